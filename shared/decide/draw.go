package decide

import "math"

// draw is the random number of one name under one seed: splitmix64 (Steele,
// Lea, Flood 2014) over the seed and the FNV-1a hash of the name, so that it
// depends on nothing else in the pool.
func draw(seed uint64, name string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * prime
	}
	return splitmix64(seed ^ splitmix64(h))
}

func splitmix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// arrival makes a weighted order without replacement of independent numbers
// (Efraimidis and Spirakis 2006): each endpoint arrives after an exponential
// time of rate share, −ln(u) ÷ share, and they are tried as they arrive. The
// first is e with probability share(e); of those left, the next is e with
// share(e) over the sum of what is left. u is from the open interval (0, 1).
func arrival(seed uint64, endpointID string, share float64) float64 {
	u := (float64(draw(seed, endpointID)>>11) + 0.5) / (1 << 53)
	return -math.Log(u) / share
}
