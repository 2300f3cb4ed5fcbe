#include <warploom/version.h>

#include <cstdio>

int main() {
  std::puts(warploom::version());
}
