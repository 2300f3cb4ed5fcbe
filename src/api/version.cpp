#include <warploom/version.h>

#define WARPLOOM_TEXT_(x) #x
#define WARPLOOM_TEXT(x) WARPLOOM_TEXT_(x)

namespace warploom {

const char* version() noexcept {
  return WARPLOOM_TEXT(WARPLOOM_VERSION_MAJOR) "." WARPLOOM_TEXT(
      WARPLOOM_VERSION_MINOR) "." WARPLOOM_TEXT(WARPLOOM_VERSION_PATCH);
}

}  // namespace warploom
