package flow

import (
	"errors"
	"strconv"
	"strings"
)

// Whole is 100 %.
const Whole Percent = 10_000

// ErrPercent is the failure of reading what is no percent.
var ErrPercent = errors.New("want a number from 0 to 100 with at most 2 decimals")

// ParsePercent reads a number as JSON writes it. An exponent is refused, and so
// are decimals beyond the second unless they are zeros.
func ParsePercent(literal string) (Percent, error) {
	whole, frac, dotted := strings.Cut(literal, ".")
	frac = strings.TrimRight(frac, "0")
	if whole == "" || len(whole) > 3 || (dotted && strings.HasSuffix(literal, ".")) || len(frac) > 2 {
		return 0, ErrPercent
	}
	n, err := strconv.ParseUint(whole+frac+"00"[len(frac):], 10, 32)
	if err != nil || n > uint64(Whole) {
		return 0, ErrPercent
	}
	return Percent(n), nil
}

// String writes the percents with no decimal more than needed, such as 12.5.
func (p Percent) String() string {
	sign, n := "", int(p)
	if n < 0 {
		sign, n = "-", -n
	}
	text := sign + strconv.Itoa(n/100)
	if n%100 == 0 {
		return text
	}
	return text + "." + strings.TrimRight(strconv.Itoa(100 + n%100)[1:], "0")
}

// MarshalJSON implements json.Marshaler.
func (p Percent) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (p *Percent) UnmarshalJSON(raw []byte) error {
	var err error
	*p, err = ParsePercent(string(raw))
	return err
}
