package money_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/money"
)

func TestParseAndString(t *testing.T) {
	cases := map[string]struct {
		nanos money.Nanos
		text  string
	}{
		"0":                    {0, "0.00"},
		"12.50":                {12_500_000_000, "12.50"},
		"0.000000001":          {1, "0.000000001"},
		"-0.000000001":         {-1, "-0.000000001"},
		"1.1":                  {1_100_000_000, "1.10"},
		"0.125":                {125_000_000, "0.125"},
		"9223372036.854775807": {math.MaxInt64, "9223372036.854775807"},
		"007":                  {7_000_000_000, "7.00"},
		"-0":                   {0, "0.00"},
	}
	for text, want := range cases {
		got, err := money.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want.nanos, got, text)
		require.Equal(t, want.text, got.String())
	}
	require.Equal(t, "-9223372036.854775808", money.Nanos(math.MinInt64).String())
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", "-", ".", "1.", ".5", "+1", "1e3", "0x1", "1,5", " 1", "1 ", "--1", "1.0000000001", "9223372036.854775808",
		"99999999999", "NaN", "Inf", "1_000", "١", "1.-1", "1.5.5",
	} {
		_, err := money.Parse(text)
		require.ErrorIs(t, err, money.ErrAmount, text)
	}
	_, err := money.ParsePerMillion("-0.10")
	require.Error(t, err)
	_, err = money.ParsePerMillion("x")
	require.Error(t, err)
	p, err := money.ParsePerMillion("0.10")
	require.NoError(t, err)
	require.Equal(t, "0.10", p.String())
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := money.Nanos(rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "nanos"))
		back, err := money.Parse(n.String())
		require.NoError(t, err)
		require.Equal(t, n, back)
	})
}

// TestCostIsExact compares with arbitrary precision.
func TestCostIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.Int64().Draw(t, "units")
		price := money.PerMillion(rapid.Int64().Draw(t, "price"))
		want := new(big.Int)
		if units > 0 && price > 0 {
			want.Mul(big.NewInt(units), big.NewInt(int64(price)))
			want.Add(want, big.NewInt(500_000))
			want.Div(want, big.NewInt(1_000_000))
		}
		if !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		require.Equal(t, want.Int64(), int64(price.Cost(units)))
	})
}

func TestCostIsMonotonicAndNeverNegative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := money.PerMillion(rapid.Int64Range(0, 1e15).Draw(t, "price"))
		a := rapid.Int64Range(0, 1e15).Draw(t, "a")
		b := rapid.Int64Range(0, 1e15).Draw(t, "b")
		require.GreaterOrEqual(t, price.Cost(a+b), price.Cost(a))
		require.GreaterOrEqual(t, price.Cost(a), money.Nanos(0))
		if sum := price.Cost(a).Add(price.Cost(b)); sum < math.MaxInt64 {
			require.InDelta(t, int64(sum), int64(price.Cost(a+b)), 1, "at most the two roundings differ")
		}
	})
}

// TestNoDrift adds up a million tiny costs (case C7): a float would be off.
func TestNoDrift(t *testing.T) {
	price, err := money.ParsePerMillion("0.10") // 0.0000001 USD a token
	require.NoError(t, err)
	var total money.Nanos
	for range 1_000_000 {
		total = total.Add(price.Cost(1))
	}
	require.Equal(t, "0.10", total.String())
}

func TestAddSaturates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		sum := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
		want := int64(math.MaxInt64)
		switch {
		case sum.IsInt64():
			want = sum.Int64()
		case sum.Sign() < 0:
			want = math.MinInt64
		}
		require.Equal(t, want, int64(money.Nanos(a).Add(money.Nanos(b))))
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"0", "12.50", "-0.000000001", "9223372036.854775807", "1e9", "."} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := money.Parse(text)
		if err != nil {
			return
		}
		want, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("accepted what is no number")
		}
		want.Mul(want, big.NewRat(1_000_000_000, 1))
		if !want.IsInt() || want.Num().Cmp(big.NewInt(int64(n))) != 0 {
			t.Fatalf("%q read as %d", text, n)
		}
	})
}
