package dev

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Access is what dev.json tells other programs: where the platform answers and
// with which credentials.
type Access struct {
	GatewayURL    string `json:"gateway_url"`
	ControlURL    string `json:"control_url"`
	DashboardURL  string `json:"dashboard_url"`
	APIKey        string `json:"api_key"`
	ManagementKey string `json:"management_key"`
	WorkspaceID   string `json:"workspace_id"`
	OperatorToken string `json:"operator_token"`
	// DatabaseURL is the private cluster's; a database that DATABASE_URL names is
	// not repeated.
	DatabaseURL string `json:"database_url,omitempty"`
}

// accessFile is there exactly while the whole platform is ready.
const accessFile = "dev.json"

// credentials survive a stop, so that a second start prints the same key.
type credentials struct {
	OperatorToken string `json:"operator_token"`
	ManagementKey string `json:"management_key,omitempty"`
	WorkspaceID   string `json:"workspace_id,omitempty"`
	APIKey        string `json:"api_key,omitempty"`
}

const (
	credentialsFile = "credentials.json"
	lockFile        = "lock"
)

// readCredentials returns what an earlier start kept, or the zero value.
func readCredentials(dir string) (credentials, error) {
	var c credentials
	raw, err := os.ReadFile(filepath.Join(dir, credentialsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read the credentials of an earlier start: %w", err)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("%s is damaged; remove it to get a new workspace and key: %w",
			filepath.Join(dir, credentialsFile), err)
	}
	return c, nil
}

// writeJSON replaces a file whole, readable by its owner only.
func writeJSON(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	return writeFile(path, append(raw, '\n'))
}

// writeFile replaces a file whole: a reader sees the old one or the new one.
func writeFile(path string, content []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already after the rename
	if _, err := tmp.Write(content); err != nil {
		_ = tmp.Close()
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := errors.Join(tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// lockFolder makes sure that one process uses dir. The lock goes with the
// process, however it ends.
func lockFolder(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another signalbox dev is running in %s; stop it, or choose another folder with --data", dir)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}
