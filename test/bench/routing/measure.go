package main

import "time"

// share is the part of first attempts that went to provider p from a moment
// for a while.
func (s *simulation) share(r *result, p int, from, to time.Duration) float64 {
	n, of := 0, 0
	for i := range s.all {
		if at := s.all[i].at; at >= from && at < to {
			of++
			if r.first[i] == p {
				n++
			}
		}
	}
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// shares is the series of a provider's share, one point for each step.
func (s *simulation) shares(r *result, p int, step time.Duration) []float64 {
	n := int(s.scene.length / step)
	hits, of := make([]float64, n), make([]float64, n)
	for i := range s.all {
		at := min(int(s.all[i].at/step), n-1)
		of[at]++
		if r.first[i] == p {
			hits[at]++
		}
	}
	for i := range hits {
		hits[i] /= max(of[i], 1)
	}
	return hits
}

// step is how finely leaving and returning are told: a hundred requests.
const step = 10 * time.Second

// reaction is how long a policy took to notice one event: until the share of
// the provider was under half of what it was before, and, from the end of the
// event, until it was over half of that again. Negative: it did not. A policy
// that had nothing there has nothing to leave.
type reaction struct {
	before        float64
	left, back    time.Duration
	worstMeantime float64 // share of the requests of the event that went there
}

const never = time.Duration(-1)

func (s *simulation) reaction(r *result, e event) reaction {
	out := reaction{before: s.share(r, e.provider, e.from-2*time.Minute, e.from), left: never, back: never}
	out.worstMeantime = s.share(r, e.provider, e.from, e.to)
	for at := e.from; at < e.to; at += step {
		if s.share(r, e.provider, at, at+step) < out.before/2 {
			out.left = at - e.from
			break
		}
	}
	next := s.scene.length
	for _, other := range s.scene.events {
		if other.from > e.to {
			next = min(next, other.from)
		}
	}
	for at := e.to; at < next; at += step {
		if s.share(r, e.provider, at, at+step) > out.before/2 {
			out.back = at - e.to
			break
		}
	}
	return out
}

// regret is what a policy cost more than the oracle, as a part of what the
// oracle cost, from a moment for a while.
func (s *simulation) regret(r, best *result, from, to time.Duration) float64 {
	own, least := 0.0, 0.0
	for i := range s.all {
		if at := s.all[i].at; at >= from && at < to {
			own += r.costs[i]
			least += best.costs[i]
		}
	}
	if least == 0 {
		return 0
	}
	return own/least - 1
}

// behind is the series of what a policy has cost more than the oracle, summed
// up, in USD.
func (s *simulation) behind(r, best *result, step time.Duration) []float64 {
	series := make([]float64, int(s.scene.length/step))
	for i := range s.all {
		at := min(int(s.all[i].at/step), len(series)-1)
		series[at] += (r.costs[i] - best.costs[i]) / 1e9
	}
	for i := 1; i < len(series); i++ {
		series[i] += series[i-1]
	}
	return series
}
