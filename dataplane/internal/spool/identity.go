package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// ErrInUse is returned by Open when another process has the directory.
var ErrInUse = errors.New("another gateway uses this spool directory; give each gateway its own")

// lockDir takes the directory for this process. The lock goes with the process,
// however it ends.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open spool lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("spool directory %s: %w", dir, ErrInUse)
		}
		return nil, fmt.Errorf("lock spool directory: %w", err)
	}
	return f, nil
}

// identity reads the gateway's id, or makes it once for the directory's life.
func identity(dir string, ids *id.Source) (id.Gateway, error) {
	path := filepath.Join(dir, "gateway-id")
	text, err := os.ReadFile(path)
	if err == nil {
		gw, err := id.Parse[id.GatewayKind](strings.TrimSpace(string(text)))
		if err != nil {
			return id.Gateway{}, fmt.Errorf("gateway id file %s: %w", path, err)
		}
		return gw, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return id.Gateway{}, fmt.Errorf("read gateway id: %w", err)
	}
	gw := id.New[id.GatewayKind](ids)
	if err := writeDurably(dir, "gateway-id", gw.String()+"\n"); err != nil {
		return id.Gateway{}, fmt.Errorf("write gateway id: %w", err)
	}
	return gw, nil
}

// writeDurably creates name in dir so that it is whole or absent after a power
// failure.
func writeDurably(dir, name, text string) error {
	tmp, err := os.CreateTemp(dir, name+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.WriteString(text)
	if err == nil {
		err = tmp.Sync()
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	return d.Sync()
}
