package health

import (
	"math/bits"
	"time"
)

// Samples are counted in classes that are an eighth of an octave wide, so a
// median is off by less than 7 %.
const (
	perOctave  = 8
	octaves    = 40
	halfWindow = window / 2
)

// median finds the middle of the samples of the last 15 to 30 minutes in
// constant space: two histograms, the older dropped when the newer is full of
// its half of the window.
type median struct {
	newer, older histogram
	since        time.Time
}

type histogram struct {
	class [octaves * perOctave]uint32
	n     uint32
}

func (m *median) add(now time.Time, v int64) {
	if age := now.Sub(m.since); age >= halfWindow {
		m.older = m.newer
		if age >= window {
			m.older = histogram{}
		}
		m.newer, m.since = histogram{}, now
	}
	m.newer.class[classOf(v)]++
	m.newer.n++
}

// value returns the median, 0 without samples.
func (m *median) value() int64 {
	n := m.newer.n + m.older.n
	if n == 0 {
		return 0
	}
	left := (n + 1) / 2
	for i := range m.newer.class {
		c := m.newer.class[i] + m.older.class[i]
		if c >= left {
			return middleOf(i)
		}
		left -= c
	}
	return 0
}

func classOf(v int64) int {
	if v < perOctave {
		return int(max(v, 0))
	}
	octave := bits.Len64(uint64(v)) - 4 // v>>octave has four bits, the first of them set
	return min((octave+1)*perOctave+int(v>>octave)-perOctave, octaves*perOctave-1)
}

func middleOf(class int) int64 {
	if class < perOctave {
		return int64(class)
	}
	octave := class/perOctave - 1
	low := int64(class%perOctave+perOctave) << octave
	return low + (1<<octave)/2
}
