// Package dashboard owns the built web dashboard, embedded. It knows nothing
// of how it is served.
package dashboard

import (
	"embed"
	"io/fs"
)

// The folder is filled by `make web`; in a checkout without that build it
// holds only a placeholder.
//
//go:embed all:dist
var dist embed.FS

// Files returns the dashboard, or nil when this binary was built without it.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil
	}
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return nil
	}
	return files
}
