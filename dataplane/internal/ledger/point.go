package ledger

// Point is a state of the counters of spend: everything up to a sequence of
// their stream, in one epoch. Points of two epochs cannot be compared.
type Point struct {
	Epoch  string
	Stream uint64
}

// Progress says that at a point the counters have what this gateway's spool
// holds up to a sequence.
type Progress struct {
	Point
	Sequence uint64
}
