package pgcluster

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
)

// EnvBinaries names a directory with initdb and postgres. When it is set,
// nowhere else is looked.
const EnvBinaries = "SIGNALBOX_PG_BIN"

const oldest = 15

// binaries is one installation of Postgres.
type binaries struct {
	dir     string
	version string // as in "15.18"
	major   int
}

// places are where packages put Postgres: Debian and Ubuntu, RHEL, Alpine,
// Homebrew on both kinds of Mac, MacPorts, Postgres.app.
func places() []string {
	return []string{
		"/usr/lib/postgresql/*/bin",
		"/usr/pgsql-*/bin",
		"/usr/libexec/postgresql*",
		"/opt/homebrew/opt/postgresql@*/bin",
		"/usr/local/opt/postgresql@*/bin",
		"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
		"/opt/local/lib/postgresql*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
		"/opt/homebrew/bin",
		"/usr/local/bin",
		"/usr/bin",
	}
}

// findBinaries returns the installation to use: the one that EnvBinaries
// names, else the one whose major version made the data directory (major, 0
// for a new one), else the one in PATH, else the newest.
func findBinaries(ctx context.Context, major int) (binaries, error) {
	if dir := os.Getenv(EnvBinaries); dir != "" {
		return namedBinaries(ctx, dir, major)
	}
	found := installed(ctx)
	if len(found) == 0 {
		return binaries{}, fmt.Errorf("%w: %s, or set %s to a directory that has initdb and postgres, or DATABASE_URL to a running server",
			ErrNoBinaries, installLine(runtime.GOOS, fileExists), EnvBinaries)
	}
	if major == 0 {
		return found[0], nil
	}
	for _, b := range found {
		if b.major == major {
			return b, nil
		}
	}
	return binaries{}, versionError(major, found[0])
}

func namedBinaries(ctx context.Context, dir string, major int) (binaries, error) {
	b, ok := inspect(ctx, dir)
	switch {
	case !ok:
		return binaries{}, fmt.Errorf("%w: %s names %s, which has no working initdb and postgres; name another directory, or unset it", ErrNoBinaries, EnvBinaries, dir)
	case b.major < oldest:
		return binaries{}, fmt.Errorf("%w: %s names Postgres %s", ErrNoBinaries, EnvBinaries, b.version)
	case major != 0 && b.major != major:
		return binaries{}, versionError(major, b)
	}
	return b, nil
}

func versionError(major int, b binaries) error {
	return fmt.Errorf("%w: it was made by Postgres %d and this machine has %s: install Postgres %d, or dump and restore, or move the directory away to begin with an empty one",
		ErrVersion, major, b.version, major)
}

// installed lists usable installations, the one in PATH first, then newest first.
func installed(ctx context.Context) []binaries {
	var inPath string
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			inPath = filepath.Dir(real)
		}
	}
	dirs := []string{inPath}
	for _, pattern := range places() {
		matches, _ := filepath.Glob(pattern)
		dirs = append(dirs, matches...)
	}
	var found []binaries
	seen := make(map[string]bool)
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if dir == "" || seen[dir] {
			continue
		}
		seen[dir] = true
		if b, ok := inspect(ctx, dir); ok && b.major >= oldest {
			found = append(found, b)
		}
	}
	slices.SortStableFunc(found, func(a, b binaries) int {
		if first := cmp.Compare(order(a, inPath), order(b, inPath)); first != 0 {
			return first
		}
		return cmp.Compare(b.major, a.major)
	})
	return found
}

func order(b binaries, inPath string) int {
	if b.dir == inPath {
		return 0
	}
	return 1
}

var versionText = regexp.MustCompile(`PostgreSQL\) ((\d+)[^\s]*)`)

// inspect reports whether dir has what a cluster needs, and its version.
func inspect(ctx context.Context, dir string) (binaries, bool) {
	for _, name := range []string{"initdb", "postgres"} {
		if !fileExists(filepath.Join(dir, name)) {
			return binaries{}, false
		}
	}
	// The directory is the operator's choice or a system path.
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output() //nolint:gosec // see above
	if err != nil {
		return binaries{}, false
	}
	m := versionText.FindSubmatch(out)
	if m == nil {
		return binaries{}, false
	}
	major, err := strconv.Atoi(string(m[2]))
	if err != nil {
		return binaries{}, false
	}
	return binaries{dir: dir, version: string(m[1]), major: major}, true
}

// installLine names the package to install on this kind of machine.
func installLine(goos string, exists func(string) bool) string {
	switch {
	case goos == "darwin":
		return "run: brew install postgresql@17"
	case exists("/usr/bin/apt-get"):
		return "run: apt-get install -y postgresql"
	case exists("/usr/bin/dnf"):
		return "run: dnf install -y postgresql-server"
	case exists("/sbin/apk"):
		return "run: apk add postgresql"
	case exists("/usr/bin/pacman"):
		return "run: pacman -S postgresql"
	default:
		return "install the package \"postgresql\""
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path) //nolint:gosec // only whether a program is there
	return err == nil
}
