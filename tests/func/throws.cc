// SPDX-License-Identifier: MIT
// throws: exceptions that pass through calls, destructors on the way, constructors of static objects.
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Guard {
	explicit Guard(int *count) : count(count)
	{
		++*count;
	}
	~Guard()
	{
		--*count;
	}
	int *count;
};

int open_guards;

struct Early {
	Early()
	{
		Guard guard(&open_guards);
	}
} early;

void dive(int depth)
{
	Guard guard(&open_guards);
	if (!depth)
		throw std::runtime_error("far enough");
	dive(depth - 1);
}

int attempt(int depth)
{
	try {
		dive(depth);
	} catch (const std::exception &) {
		return depth;
	}
	return -1;
}

} // namespace

int main()
{
	std::vector<std::string> names;
	int sum = 0;

	for (int i = 0; i < 500; i++) {
		sum += attempt(i % 20);
		names.push_back(std::to_string(i));
	}
	auto last = std::make_unique<std::string>(names.back());
	return sum == 4750 && open_guards == 0 && *last == "499" ? 0 : 1;
}
