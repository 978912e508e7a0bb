package tally

import (
	"math"
	"time"
)

// The buckets of latency: 16 to an octave, so that one is 4.4 % wide, from 1 ms
// to more than an hour and a half.
const (
	Failed    = 0 // the bucket of what did not succeed
	perOctave = 16
	octaves   = 23
	buckets   = 1 + perOctave*octaves
	shortest  = time.Millisecond
)

// Bucket is the bucket, from 1, of what took this long.
func Bucket(took time.Duration) int {
	if took <= shortest {
		return 1
	}
	at := math.Floor(perOctave * math.Log2(float64(took)/float64(shortest)))
	return 1 + min(int(at), buckets-2)
}

// Latency is the middle of a bucket: what fell into it took 2.2 % more or less.
func Latency(bucket int) time.Duration {
	return time.Duration(float64(shortest) * math.Exp2((float64(bucket-1)+0.5)/perOctave))
}

// percentile is the latency that so many of a hundred did not exceed: that of
// the request at the rank ⌈n·percent/100⌉. It is 0 where there are none.
func percentile(took *[buckets]int64, n, percent int64) time.Duration {
	rank := (n*percent + 99) / 100
	for bucket, count := range took {
		if rank -= count; count > 0 && rank <= 0 {
			return Latency(bucket)
		}
	}
	return 0
}
