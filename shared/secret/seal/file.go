package seal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"

	"github.com/signalbox-dev/signalbox/shared/secret"
)

const (
	fileMode     = 0o600
	maxFileBytes = 1 << 20
)

// Parse reads a keyring from a text, as an environment variable holds it: the
// keyset's JSON, or that in base64.
func Parse(text secret.String) (*Keyring, error) {
	body := []byte(strings.TrimSpace(text.Reveal()))
	if len(body) == 0 {
		return nil, fmt.Errorf("%w: the text is empty", ErrKeyring)
	}
	if body[0] != '{' {
		decoded, err := base64.StdEncoding.DecodeString(string(body))
		if err != nil {
			return nil, fmt.Errorf("%w: want JSON or base64 of it", ErrKeyring)
		}
		body = decoded
	}
	// Errors of the reader may quote what they read, and that is keys.
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(body)))
	if err != nil {
		return nil, fmt.Errorf("%w: want the JSON of a keyset", ErrKeyring)
	}
	return fromHandle(handle)
}

// Text writes the keyring as Parse reads it from an environment variable.
func (k *Keyring) Text() (secret.String, error) {
	body, err := k.json()
	if err != nil {
		return secret.String{}, err
	}
	return secret.NewString(base64.StdEncoding.EncodeToString(body)), nil
}

// Equal reports whether both have the same keys and seal with the same one.
func (k *Keyring) Equal(other *Keyring) bool {
	mine, err := k.json()
	if err != nil {
		return false
	}
	theirs, err := other.json()
	return err == nil && bytes.Equal(mine, theirs)
}

func (k *Keyring) json() ([]byte, error) {
	var body bytes.Buffer
	if err := insecurecleartextkeyset.Write(k.handle, keyset.NewJSONWriter(&body)); err != nil {
		return nil, fmt.Errorf("write the keyring: %w", err)
	}
	return body.Bytes(), nil
}

// LoadFile reads a keyring file. One that others can read is refused; when it
// belongs to another user, as secrets that Kubernetes mounts do, the group may
// read it, because that is how this process can.
func LoadFile(path string) (*Keyring, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open keyring file: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at keyring file: %w", err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); exposed(info.Mode(), ok && int(stat.Uid) != os.Geteuid()) {
		return nil, fmt.Errorf("keyring file %s is open to others (mode %04o): chmod 600 it", path, info.Mode().Perm())
	}
	body, err := io.ReadAll(io.LimitReader(f, maxFileBytes))
	if err != nil {
		return nil, fmt.Errorf("read keyring file: %w", err)
	}
	k, err := Parse(secret.NewString(string(body)))
	if err != nil {
		return nil, fmt.Errorf("keyring file %s: %w", path, err)
	}
	return k, nil
}

// exposed reports whether a file's mode lets in more than the process that
// reads it.
func exposed(mode fs.FileMode, foreign bool) bool {
	if foreign {
		return mode.Perm()&0o037 != 0
	}
	return mode.Perm()&0o077 != 0
}

// CreateFile makes a keyring and writes it to a new file of mode 0600. When
// the file is there already the error wraps fs.ErrExist.
func CreateFile(path string) (*Keyring, error) {
	k, err := New()
	if err != nil {
		return nil, err
	}
	temporary, err := k.temporary(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(temporary) }()
	// A link, unlike a rename, never replaces: of two that create, one wins.
	if err := os.Link(temporary, path); err != nil {
		return nil, fmt.Errorf("create keyring file: %w", err)
	}
	return k, syncDir(filepath.Dir(path))
}

// LoadOrCreateFile is LoadFile, or CreateFile when there is no file.
func LoadOrCreateFile(path string) (*Keyring, error) {
	k, err := LoadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	if k, err = CreateFile(path); errors.Is(err, fs.ErrExist) {
		return LoadFile(path)
	}
	return k, err
}

// WriteFile replaces a keyring file in one step, as after Rotate.
func (k *Keyring) WriteFile(path string) error {
	temporary, err := k.temporary(path)
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		_ = os.Remove(temporary)
		return fmt.Errorf("replace keyring file: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// temporary writes the keyring, synced, to a file beside path.
func (k *Keyring) temporary(path string) (name string, err error) {
	body, err := k.json()
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".keyring-*") // mode 0600
	if err != nil {
		return "", fmt.Errorf("write keyring file: %w", err)
	}
	_, err = f.Write(body)
	err = errors.Join(err, f.Chmod(fileMode), f.Sync(), f.Close())
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("write keyring file: %w", err)
	}
	return f.Name(), nil
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync keyring directory: %w", err)
	}
	err = errors.Join(d.Sync(), d.Close())
	if err != nil {
		return fmt.Errorf("sync keyring directory: %w", err)
	}
	return nil
}
