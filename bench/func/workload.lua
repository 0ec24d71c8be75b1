-- SPDX-License-Identifier: MIT
--
-- What the interpreter is given to do: the same in every run. A mixture of what scripts do, so that
-- its own functions are called in many orders: tables, strings and their patterns, closures,
-- coroutines, sorting, errors that are caught (longjmp), the collector, and the compiler itself.
-- The argument is how often; 1 is about four million calls and returns.
local rounds = tonumber(arg[1]) or 1
local seed = 12345

local function random(n)
	seed = (seed * 1103515245 + 12345) % 2147483648
	return seed // 65536 % n + 1
end

local function tables(n)
	local t, sum = {}, 0
	for i = 1, n do
		t[i] = random(1000)
		t["k" .. i % 100] = i
	end
	table.sort(t)
	for k, v in pairs(t) do
		sum = sum + v
	end
	for i = 1, n // 10 do
		table.insert(t, random(#t), i)
		table.remove(t, random(#t))
	end
	return sum
end

local function strings(n)
	local parts = {}
	for i = 1, n do
		parts[#parts + 1] = string.format("%d:%s;", i, string.rep("x", random(8)))
	end
	local text, found = table.concat(parts), 0
	for number, word in text:gmatch("(%d+):(x+);") do
		found = found + tonumber(number) + #word
	end
	text = text:gsub("xx", "y"):upper():reverse()
	return found + #text
end

local Shape = {}
Shape.__index = Shape
Shape.__add = function(a, b)
	return setmetatable({ size = a.size + b.size }, Shape)
end

function Shape:grow(by)
	self.size = self.size + by
	return self
end

local function objects(n)
	local sum = setmetatable({ size = 0 }, Shape)
	for i = 1, n do
		sum = sum + setmetatable({ size = i }, Shape):grow(random(5))
	end
	return sum.size
end

local function fibonacci(n)
	return n < 2 and n or fibonacci(n - 1) + fibonacci(n - 2)
end

local function generators(n)
	local squares = coroutine.wrap(function()
		for i = 1, n do
			coroutine.yield(i * i)
		end
		return 0
	end)
	local sum = 0
	for _ = 1, n do
		sum = sum + squares()
	end
	return sum
end

local function failures(n)
	local caught = 0
	for i = 1, n do
		local ok = pcall(function()
			if random(3) == 1 then
				error("no " .. i)
			end
			return #nil
		end)
		caught = caught + (ok and 0 or 1)
	end
	return caught
end

local function compiler(n)
	local sum = 0
	for i = 1, n do
		local code = {}
		for line = 1, 20 do
			code[line] = "local v" .. line .. " = " .. random(100) .. " * (x + " .. i .. ")"
		end
		code[21] = "return v1 + v20"
		sum = sum + load("local x = ...\n" .. table.concat(code, "\n"))(i)
	end
	return sum
end

local total = 0
for _ = 1, rounds do
	total = total + tables(1500) + strings(1200) + objects(1500) + fibonacci(17)
	total = total + generators(1000) + failures(400) + compiler(12)
	collectgarbage()
end
print(total)
