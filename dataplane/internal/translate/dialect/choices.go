package dialect

// MaxChoices is how many choices a reply can have: OpenAI's n is at most 128.
const MaxChoices = 128

// Choices follows which choices of a reply began and which of them ended. The
// zero value is ready. It allocates nothing.
type Choices struct{ begun, ended [MaxChoices / 64]uint64 }

// Begin notes that there is something of the choice of an index. One beyond
// what there can be stands for another.
func (c *Choices) Begin(index int64) { c.begun[index/64%int64(len(c.begun))] |= 1 << (index & 63) }

// End notes that the choice has its finish reason.
func (c *Choices) End(index int64) { c.ended[index/64%int64(len(c.ended))] |= 1 << (index & 63) }

// Any reports whether a choice began.
func (c *Choices) Any() bool { return c.begun != [len(c.begun)]uint64{} }

// Complete reports that choices began, and that each of them ended.
func (c *Choices) Complete() bool { return c.Any() && c.begun == c.ended }
