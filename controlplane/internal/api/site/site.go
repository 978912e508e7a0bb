// Package site owns how the dashboard's files are served: headers, caching and
// the fall-back to the start page for addresses that the dashboard's own
// router knows. It knows nothing of what the files hold.
package site

import (
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/gin-gonic/gin"
)

const indexFile = "index.html"

// policy lets the dashboard load its own files and call its own origin, and
// nothing else. Style attributes are needed by its chart and flow libraries.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// Site serves the files of one build.
type Site struct {
	files fs.FS
}

// New serves files; nil means that this binary was built without a dashboard,
// and a page that says so is served in its place.
func New(files fs.FS) *Site {
	return &Site{files: files}
}

// Serve answers a GET or HEAD for a page or a file and reports whether it did:
// it leaves what looks like a call of the API alone.
func (s *Site) Serve(c *gin.Context) bool {
	if c.Request.Method != http.MethodGet && c.Request.Method != http.MethodHead {
		return false
	}
	name := strings.TrimPrefix(path.Clean("/"+c.Request.URL.Path), "/")
	if name == "v1" || strings.HasPrefix(name, "v1/") {
		return false
	}
	if name == "" {
		name = indexFile
	}
	body, err := s.read(name)
	if errors.Is(err, fs.ErrNotExist) && wantsPage(c, name) {
		name = indexFile
		body, err = s.read(name)
	}
	if err != nil {
		return false
	}
	Harden(c, policy)
	c.Header("Cache-Control", caching(name))
	c.Data(http.StatusOK, contentType(name), body)
	return true
}

// Harden sets the security headers of a page.
func Harden(c *gin.Context, contentPolicy string) {
	c.Header("Content-Security-Policy", contentPolicy)
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("X-Frame-Options", "DENY")
	c.Header("Referrer-Policy", "no-referrer")
	c.Header("Cross-Origin-Opener-Policy", "same-origin")
	c.Header("Cross-Origin-Resource-Policy", "same-origin")
	c.Header("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// Data sets the headers of an answer that is for programs: it may hold a
// credential or a tenant's records, so nothing between may keep it, and nothing
// may take it for a page.
func Data(c *gin.Context) {
	c.Header("Cache-Control", "no-store")
	c.Header("X-Content-Type-Options", "nosniff")
}

func (s *Site) read(name string) ([]byte, error) {
	if s.files == nil {
		if name == indexFile {
			return []byte(statusPage), nil
		}
		return nil, fs.ErrNotExist
	}
	file, err := s.files.Open(name)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || info.IsDir() {
		return nil, fs.ErrNotExist
	}
	return io.ReadAll(file)
}

// wantsPage tells a person's navigation from a missing asset.
func wantsPage(c *gin.Context, name string) bool {
	return path.Ext(name) == "" && strings.Contains(c.GetHeader("Accept"), "text/html")
}

// caching lets files with a hash in their name stay for good, as the build
// puts those under assets/.
func caching(name string) string {
	if strings.HasPrefix(name, "assets/") {
		return "public, max-age=31536000, immutable"
	}
	return "no-cache"
}

func contentType(name string) string {
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}

const statusPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signalbox control plane</title></head>
<body><main><h1>Signalbox control plane</h1>
<p>It is running. This binary was built without the dashboard.</p>
<ul><li><a href="/docs">The management API</a></li><li><a href="/openapi.json">Its OpenAPI file</a></li>
<li><a href="/readyz?verbose">Readiness</a></li></ul></main></body></html>
`
