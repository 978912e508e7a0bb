package cli

import "github.com/signalbox-dev/signalbox/shared/id"

// isID tells an id from a name that begins like one, such as guard_interns.
func isID[K id.Kind](text string) bool {
	_, err := id.Parse[K](text)
	return err == nil
}
