package decide

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/policy"
)

// TestTheUsersPageHasTheConstants holds docs/routing.md to weights.go.
func TestTheUsersPageHasTheConstants(t *testing.T) {
	raw, err := os.ReadFile("../../docs/routing.md")
	require.NoError(t, err)
	page := string(raw)
	n := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	for name, value := range map[string]string{
		"λ": n(waitPrice) + " nano-USD per second", "w1": n(firstByteWeight), "w2": n(totalWeight), "a": n(errorWeight), "b": n(rateLimitedWeight),
		"smoothing of errors and rate limits": n(recentPrior), "smoothing of success": n(priorCalls) + " calls, " + n(priorSuccess) + " good",
		"least success": n(minSuccess), "γ": n(concentration), "floor": n(minShare), "most for floors": n(maxExplored),
		"range of costs": n(costRange), "minor": n(minor), "typical first byte": n(typicalFirstByte.Seconds()) + " s",
		"typical tail": n(typicalTail.Seconds()) + " s", "typical throughput": n(typicalThroughput) + " tokens/s",
		"typical sizes": fmt.Sprintf("%d in, %d out", expectedInput, expectedOutput),
	} {
		require.Contains(t, page, "| "+name+" | "+value+" |")
	}
	var columns [6][]string
	for _, m := range []policy.Mode{policy.Balanced, policy.Price, policy.Latency, policy.Throughput} {
		w := otherWeightsOf(m)
		weights := [6]float64{w.reliability, w.latency, w.tail, w.throughput, w.price, w.sizeFit}
		sum := 0.0
		for i, v := range weights {
			sum += v
			columns[i] = append(columns[i], fmt.Sprintf("%.2f", v))
		}
		require.InDelta(t, 1, sum, 1e-9, string(m))
	}
	for i, name := range []string{"reliability", "latency", "tail latency", "throughput", "price", "size fit"} {
		_, row, found := strings.Cut(page, "\n| "+name+": ")
		require.True(t, found, name)
		row, _, _ = strings.Cut(row, "\n")
		require.Contains(t, row, "| "+strings.Join(columns[i], " | ")+" |", name)
	}
}
