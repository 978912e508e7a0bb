package decide

// draw is the random number of one endpoint under one seed: splitmix64
// (Steele, Lea, Flood 2014) over the seed and the FNV-1a hash of the endpoint
// id, so that it depends on nothing else in the pool.
func draw(seed uint64, endpointID string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(endpointID) {
		h = (h ^ uint64(endpointID[i])) * prime
	}
	return splitmix64(seed ^ splitmix64(h))
}

func splitmix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
