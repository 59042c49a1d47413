// libyaml: the policy file, with line and column of every node.
#include <yaml.h>
