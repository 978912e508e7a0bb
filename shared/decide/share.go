package decide

import "math"

// shares gives each of a group of equals, which is sorted by score, its part
// of the traffic: (least ÷ own score)^concentration, scaled so that the parts
// add up to 1 and none is below the floor. Multiplying all scores by the same
// number changes nothing.
func shares(group []*ranked) {
	n := len(group)
	least := group[n-1].score * costRange
	best := max(group[0].score, least)
	sum := 0.0
	for i := n - 1; i >= 0; i-- {
		r := group[i]
		r.share = 1
		if own := max(r.score, least); own > best {
			r.share = math.Pow(best/own, concentration)
		}
		sum += r.share
	}
	// The smallest are lifted to the floor one after the other; each lift
	// leaves less to those above it, so that the next may be below it too.
	floor, lifted := floorOf(n), n
	rest := 1.0
	for lifted > 1 && rest*group[lifted-1].share < floor*sum {
		lifted--
		rest -= floor
		sum -= group[lifted].share
		group[lifted].share = floor
	}
	for _, r := range group[:lifted] {
		r.share *= rest / sum
	}
}

// floorOf is the least share in a group of n.
func floorOf(n int) float64 { return min(minShare, maxExplored/float64(n)) }
