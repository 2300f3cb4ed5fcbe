#pragma once
/// All that describing and running graphs takes. An engine of one's own needs <warploom/engine.h>.
#include <warploom/graph.h>
#include <warploom/handle.h>
#include <warploom/score_modifiers.h>
#include <warploom/version.h>
