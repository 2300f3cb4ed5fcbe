#pragma once

// The library is compiled with hidden visibility; what carries this macro is its interface.
#define WARPLOOM_EXPORT __attribute__((visibility("default")))
