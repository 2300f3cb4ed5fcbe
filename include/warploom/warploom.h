#pragma once
/// All of Warploom's public interface.
#include <warploom/engine.h>
#include <warploom/graph.h>
#include <warploom/handle.h>
#include <warploom/version.h>
