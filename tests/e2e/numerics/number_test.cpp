// Tests distanceInUlp(), with which the special-value test measures errors.
#include "tests/e2e/numerics/number.h"

#include <cmath>
#include <gtest/gtest.h>
#include <quadmath.h>

using namespace gantry::numerics;

namespace {

const Type kTypes[] = {GANTRY_TYPE_F32, GANTRY_TYPE_F16, GANTRY_TYPE_F64, GANTRY_TYPE_BF16};

/// Returns the spacing of the largest numbers.
Quad lastUnit(Type type) {
  const Quad maximum = largest(type);
  for (Quad unit = scalbnq(1, ilogbq(maximum));; unit /= 2)
    if (rounded(type, maximum - unit / 2) != maximum - unit / 2)
      return unit;
}

TEST(DistanceInUlp, CountsUnitsOfTheExactValue) {
  EXPECT_EQ(distanceInUlp(GANTRY_TYPE_F32, 1 + 0x1p-23Q, 1), 1);
  EXPECT_EQ(distanceInUlp(GANTRY_TYPE_F16, 2 + 0x1p-9Q, 2), 1);
  EXPECT_EQ(distanceInUlp(GANTRY_TYPE_F32, 0x1p-149Q, 0), 1);
  EXPECT_EQ(distanceInUlp(GANTRY_TYPE_F32, 0x1p-23Q, 0, 1), 1);
  EXPECT_EQ(distanceInUlp(GANTRY_TYPE_F32, 1, 1), 0);
}

TEST(DistanceInUlp, NaNEqualsNaNOnly) {
  EXPECT_EQ(distanceInUlp(GANTRY_TYPE_F32, nanq(""), nanq("")), 0);
  EXPECT_EQ(distanceInUlp(GANTRY_TYPE_F32, nanq(""), 1), INFINITY);
  EXPECT_EQ(distanceInUlp(GANTRY_TYPE_F32, HUGE_VALQ, nanq("")), INFINITY);
}

TEST(DistanceInUlp, AFiniteResultInsteadOfAnOverflow) {
  for (Type type : kTypes)
    for (Quad sign : {1.0Q, -1.0Q}) {
      const Quad maximum = sign * largest(type), unit = sign * lastUnit(type);
      EXPECT_EQ(distanceInUlp(type, maximum, maximum + unit), 1);
      EXPECT_EQ(distanceInUlp(type, maximum, maximum + 5 * unit), 5);
      EXPECT_GT(distanceInUlp(type, maximum, maximum * 2), 100);
      EXPECT_GT(distanceInUlp(type, maximum, sign * expq(1000)), 100);
      EXPECT_EQ(distanceInUlp(type, maximum, sign * HUGE_VALQ), INFINITY);
    }
}

TEST(DistanceInUlp, AnInfiniteResultInsteadOfAFiniteOne) {
  for (Type type : kTypes)
    for (Quad sign : {1.0Q, -1.0Q}) {
      const Quad maximum = sign * largest(type), unit = sign * lastUnit(type);
      const Quad infinite = sign * HUGE_VALQ;
      EXPECT_EQ(distanceInUlp(type, infinite, maximum), 1);
      EXPECT_EQ(distanceInUlp(type, infinite, maximum - 4 * unit), 5);
      EXPECT_EQ(distanceInUlp(type, infinite, maximum + unit), 0);
      EXPECT_EQ(distanceInUlp(type, infinite, sign * expq(1000)), 0);
      EXPECT_EQ(distanceInUlp(type, infinite, infinite), 0);
      EXPECT_GT(distanceInUlp(type, infinite, maximum / 2), 100);
      EXPECT_GT(distanceInUlp(type, -infinite, sign * expq(1000)), 100);
      EXPECT_EQ(distanceInUlp(type, -infinite, infinite), INFINITY);
    }
}

} // namespace
