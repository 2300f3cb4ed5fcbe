#pragma once
/// The names of a case and what is written with them: "$M" is the value of M, whatever its type;
/// "$N*$H+1" is integer arithmetic with + - * / and parentheses.
#include <string>

#include <nlohmann/json.hpp>

namespace warploom::test {

using Json = nlohmann::ordered_json;

/// `value` with every name in it replaced, at any depth. Throws std::runtime_error.
Json substitute(const Json& value, const Json& bindings);

/// One binding of names for each combination of a sweep's lists. An object in a list binds several
/// names together.
std::vector<Json> combinations(const Json& sweep);

}  // namespace warploom::test
