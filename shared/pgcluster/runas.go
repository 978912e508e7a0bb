package pgcluster

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// identity is the user that Postgres runs as. Postgres refuses to run as root.
type identity struct {
	name     string
	uid, gid int
	switched bool // this process is root and hands the cluster to another user
}

func runAs() (identity, error) {
	if os.Geteuid() != 0 {
		return identity{name: "self", uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "_postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.Atoi(u.Uid)
		gid, errGID := strconv.Atoi(u.Gid)
		if errUID == nil && errGID == nil && uid > 0 {
			return identity{name: name, uid: uid, gid: gid, switched: true}, nil
		}
	}
	return identity{}, fmt.Errorf("%w: Postgres refuses to run as root and there is no user postgres, _postgres or nobody: start as another user",
		ErrPermission)
}

func (w identity) credential() *syscall.Credential {
	if !w.switched {
		return nil
	}
	return &syscall.Credential{Uid: uint32(w.uid), Gid: uint32(w.gid)}
}

// own gives a path to the user.
func (w identity) own(path string) error {
	if !w.switched {
		return nil
	}
	return os.Lchown(path, w.uid, w.gid)
}

// reaches reports whether the user may pass through dir and all its parents.
func (w identity) reaches(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok || !w.passes(info.Mode().Perm(), int(stat.Uid), int(stat.Gid)) {
			return false
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}

func (w identity) passes(mode os.FileMode, uid, gid int) bool {
	switch {
	case uid == w.uid:
		return mode&0o100 != 0
	case gid == w.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}
