// Package money owns amounts of money: int64 nano-USD (1e-9 USD). There are
// no floats and no rounding except where a function's comment says so. It
// knows nothing of who pays.
package money

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Nanos is an amount in nano-USD. The range is about ±9.2 billion USD.
type Nanos int64

// PerMillion is a price in nano-USD per million units (tokens, mostly).
type PerMillion int64

// USD is one dollar.
const USD Nanos = 1_000_000_000

// ErrAmount is returned for text that is not a decimal amount in range. Its
// text never repeats the submitted value.
var ErrAmount = errors.New("want a decimal amount in USD with at most 9 decimals, such as 12.50")

// Parse reads a decimal amount in USD, such as "12.50" or "-0.000000001".
// Exponents, signs other than a leading minus, and more than 9 decimals are
// refused.
func Parse(text string) (Nanos, error) {
	body, negative := strings.CutPrefix(text, "-")
	whole, frac, dotted := strings.Cut(body, ".")
	if whole == "" || (dotted && frac == "") || len(frac) > 9 || len(whole) > 10 {
		return 0, ErrAmount
	}
	if !digits(whole) || !digits(frac) {
		return 0, ErrAmount
	}
	n, err := strconv.ParseUint(whole+frac+strings.Repeat("0", 9-len(frac)), 10, 64)
	if err != nil || n > math.MaxInt64 {
		return 0, ErrAmount
	}
	if negative {
		return -Nanos(n), nil
	}
	return Nanos(n), nil
}

// ParsePerMillion reads a price in USD per million units, as catalogs write it.
func ParsePerMillion(text string) (PerMillion, error) {
	n, err := Parse(text)
	if err != nil {
		return 0, err
	}
	if n < 0 {
		return 0, errors.New("want a price of zero or more")
	}
	return PerMillion(n), nil
}

// String writes USD with at least two and at most nine decimals.
func (n Nanos) String() string {
	sign, u := "", uint64(n)
	if n < 0 {
		sign, u = "-", -u
	}
	frac := strconv.FormatUint(u%uint64(USD)+uint64(USD), 10)[1:]
	frac = frac[:2] + strings.TrimRight(frac[2:], "0")
	return sign + strconv.FormatUint(u/uint64(USD), 10) + "." + frac
}

// String writes USD per million units.
func (p PerMillion) String() string { return Nanos(p).String() }

// Cost is units × p ÷ 10⁶ in 128 bits, rounded half up, saturating at the
// largest amount. Negative units or prices cost nothing.
func (p PerMillion) Cost(units int64) Nanos {
	if units <= 0 || p <= 0 {
		return 0
	}
	const million = 1_000_000
	hi, lo := bits.Mul64(uint64(units), uint64(p))
	lo, carry := bits.Add64(lo, million/2, 0)
	hi += carry
	if hi >= million {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, million)
	if q > math.MaxInt64 {
		return math.MaxInt64
	}
	return Nanos(q)
}

// Add is n + m, saturating at both ends, so that a total never wraps.
func (n Nanos) Add(m Nanos) Nanos {
	sum := n + m
	switch {
	case n > 0 && m > 0 && sum < 0:
		return math.MaxInt64
	case n < 0 && m < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}

func digits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
