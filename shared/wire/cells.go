package wire

import "time"

// The documents of StreamCells, one a subject, in which gateways state what they
// hold of a limit:
//
//	cells.epoch                          a CellsEpoch
//	cells.minute.<workspace>.<name>      what was taken in the last minute
//	cells.slots.<workspace>.<name>       what runs at present
//	cells.held.<workspace>.<name>        what is reserved, in nano-USD
//
// Each gateway has its own entry there, which it replaces as a whole.
const (
	SubjectCellsEpoch  = SubjectCells + ".epoch"
	SubjectCellsMinute = SubjectCells + ".minute"
	SubjectCellsSlots  = SubjectCells + ".slots"
	SubjectCellsHeld   = SubjectCells + ".held"
)

// CellsEpoch is the mark of the documents of StreamCells. A control plane writes
// it where there is none: the documents are new then, or were lost. Gateways
// that see another one than before state at once what they hold, and answer only
// from ReadyAt on, by the clock of NATS. Without a mark they do not answer.
type CellsEpoch struct {
	Epoch   string    `json:"epoch"` // any text that no other mark had
	ReadyAt time.Time `json:"ready_at"`
}
