package condition

// Hider hides texts under the key of a workspace, so that equal ones can be
// told to be equal and nothing else can be told of them.
type Hider struct{ key []byte }

// NewHider takes a workspace's key.
func NewHider(key []byte) Hider { return Hider{key: key} }
