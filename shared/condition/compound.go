package condition

// compound is the kind of an object or an array.
const compound kind = 1 << 6 // beyond hidden: equal to nothing

// Compound stands for an object or an array of a request: it is there, and
// equals nothing.
func Compound() Value { return Value{kind: compound} }
