package api

import (
	"github.com/oapi-codegen/nullable"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// amount reads an amount in USD. The services say what else it must be; the
// contract admits only what this reads.
func amount(v *rule.Violations, path, text string) money.Nanos {
	n, err := money.Parse(text)
	if err != nil {
		v.Add(path, rule.Malformed, "must be an amount in USD with at most 9 decimals, such as 12.50")
	}
	return n
}

// onlyAmount reads one where it is all that can be wrong.
func onlyAmount(path, text string) (money.Nanos, error) {
	var v rule.Violations
	n := amount(&v, path, text)
	return n, v.Err()
}

// usdOrNull writes an amount twice, or null for none.
func usdOrNull(n *money.Nanos) (nullable.Nullable[string], nullable.Nullable[int64]) {
	if n == nil {
		return nullable.NewNullNullable[string](), nullable.NewNullNullable[int64]()
	}
	return nullable.NewNullableWithValue(n.String()), nullable.NewNullableWithValue(int64(*n))
}
