package health

import (
	"math/bits"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Samples are counted in classes that are an eighth of an octave wide, so a
// median is off by less than 7 %. The classes are part of what gateways tell
// each other: whoever changes them changes the version of wire.Health.
const (
	perOctave = 8
	octaves   = 40
	classes   = octaves * perOctave
)

// series are the things of which samples are kept. A sample's class on the wire
// is that within its series after those of the series before.
type series int

const (
	firstByte  series = iota // microseconds to the first byte
	throughput               // thousandths of an output token per second
	seriesKept
)

// A class must have its number on the wire.
const _ = uint(wire.HealthClasses - classes*int(seriesKept))

// histogram counts samples by class.
type histogram struct {
	class [classes]uint32
	n     uint32
}

// spread is a histogram of each series.
type spread [seriesKept]histogram

// add counts samples; one of a class that this gateway does not know is left
// out.
func (s *spread) add(samples []wire.HealthSample) {
	for _, x := range samples {
		if of := int(x.Class) / classes; of < len(s) {
			s[of].class[int(x.Class)%classes] += x.Count
			s[of].n += x.Count
		}
	}
}

// sub takes back what add counted.
func (s *spread) sub(samples []wire.HealthSample) {
	for _, x := range samples {
		if of := int(x.Class) / classes; of < len(s) {
			s[of].class[int(x.Class)%classes] -= x.Count
			s[of].n -= x.Count
		}
	}
}

// quantile returns the middle of the class that the part q of the samples does
// not exceed, 0 without samples. q is above 0 and at most 1.
func (h *histogram) quantile(q float64) int64 {
	if h.n == 0 {
		return 0
	}
	left := int64(q*float64(h.n) + 0.999999)
	for i, c := range h.class {
		if left -= int64(c); left <= 0 {
			return middleOf(i)
		}
	}
	return 0
}

// counted returns samples, in order of their classes, with n more of one.
func counted(samples []wire.HealthSample, class uint16, n uint32) []wire.HealthSample {
	i, found := slices.BinarySearchFunc(samples, class, func(s wire.HealthSample, class uint16) int { return int(s.Class) - int(class) })
	if found {
		samples[i].Count += n
		return samples
	}
	return slices.Insert(samples, i, wire.HealthSample{Class: class, Count: n})
}

// sampleOf is the class on the wire of a value in a series.
func sampleOf(of series, v int64) uint16 { return uint16(int(of)*classes + classOf(v)) }

func classOf(v int64) int {
	if v < perOctave {
		return int(max(v, 0))
	}
	octave := bits.Len64(uint64(v)) - 4 // v>>octave has four bits, the first of them set
	return min((octave+1)*perOctave+int(v>>octave)-perOctave, classes-1)
}

func middleOf(class int) int64 {
	if class < perOctave {
		return int64(class)
	}
	octave := class/perOctave - 1
	low := int64(class%perOctave+perOctave) << octave
	return low + (1<<octave)/2
}
