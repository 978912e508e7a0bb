package site_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/site"
)

func TestServe(t *testing.T) {
	build := fstest.MapFS{
		"index.html":           {Data: []byte("<title>dashboard</title>")},
		"assets/app-1a2b3c.js": {Data: []byte("app()")},
	}
	cases := map[string]struct {
		files              fstest.MapFS
		method, path, mime string
		served             bool
		body, cache        string
	}{
		"start page":              {build, "GET", "/", "text/html", true, "<title>dashboard</title>", "no-cache"},
		"asset":                   {build, "GET", "/assets/app-1a2b3c.js", "*/*", true, "app()", "public, max-age=31536000, immutable"},
		"the router's own path":   {build, "GET", "/keys/new", "text/html", true, "<title>dashboard</title>", "no-cache"},
		"missing asset":           {build, "GET", "/assets/gone.js", "text/html", false, "", ""},
		"folder":                  {build, "GET", "/assets", "*/*", false, "", ""},
		"not a navigation":        {build, "GET", "/keys/new", "application/json", false, "", ""},
		"unknown path of the API": {build, "GET", "/v1/nothing", "text/html", false, "", ""},
		"another method":          {build, "POST", "/", "text/html", false, "", ""},
		"climbing out":            {build, "GET", "/../../etc/passwd.txt", "text/html", false, "", ""},
		"no build":                {nil, "GET", "/", "text/html", true, "without the dashboard", "no-cache"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := site.New(nil)
			if c.files != nil {
				s = site.New(c.files)
			}
			w := httptest.NewRecorder()
			g, _ := gin.CreateTestContext(w)
			g.Request = httptest.NewRequest(c.method, "http://x"+c.path, nil)
			g.Request.Header.Set("Accept", c.mime)
			require.Equal(t, c.served, s.Serve(g))
			if !c.served {
				return
			}
			require.Equal(t, http.StatusOK, w.Code)
			require.Contains(t, w.Body.String(), c.body)
			require.Equal(t, c.cache, w.Header().Get("Cache-Control"))
			require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
			require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
			require.Equal(t, "DENY", w.Header().Get("X-Frame-Options"))
		})
	}
}
