// SPDX-License-Identifier: MIT
// Virtual functions, std::function, lambdas and containers: indirect calls as C++ makes them.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual unsigned area() const = 0;
    virtual std::string name() const
    {
        return "shape";
    }
};

struct Square : Shape {
    unsigned side;
    explicit Square(unsigned given) : side(given)
    {
    }
    unsigned area() const override
    {
        return side * side;
    }
    std::string name() const override
    {
        return "square";
    }
};

struct Strip : Shape {
    unsigned length;
    explicit Strip(unsigned given) : length(given)
    {
    }
    unsigned area() const override
    {
        return length;
    }
};

int main()
{
    std::vector<std::unique_ptr<Shape>> shapes;
    std::map<std::string, unsigned> areas;
    std::vector<std::function<unsigned(unsigned)>> steps;
    unsigned value = 1;

    for (unsigned i = 0; i < 1000; i++) {
        if (i % 3 == 0)
            shapes.push_back(std::make_unique<Square>(i % 17));
        else
            shapes.push_back(std::make_unique<Strip>(i));
    }
    std::sort(shapes.begin(), shapes.end(), [](const auto &a, const auto &b) {
        return a->area() != b->area() ? a->area() < b->area() : a->name() < b->name();
    });
    for (const auto &shape : shapes)
        areas[shape->name() + std::to_string(shape->area() % 10)] += shape->area();
    for (const auto &entry : areas)
        std::printf("%s %u\n", entry.first.c_str(), entry.second);
    for (unsigned i = 0; i < 50; i++)
        steps.emplace_back([i](unsigned x) { return x * (2 * i + 1) + i; });
    for (unsigned round = 0; round < 100; round++)
        for (const auto &step : steps)
            value = step(value);
    std::printf("%08x\n", value);
    return 0;
}
