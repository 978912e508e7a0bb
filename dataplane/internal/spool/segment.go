package spool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// segment is one file. Its name holds its number and the first sequence that it
// may hold, so that the sequence goes on when every older file is gone.
type segment struct {
	number  uint64
	base    uint64 // the first sequence it may hold
	path    string
	created time.Time

	file    *os.File // open for writing while it is the active one, else nil
	size    int64
	last    uint64 // highest sequence in it; one less than its base when it has none
	intents int    // open intents whose newest copy is here
}

const segmentName = "%016x-%016x.seg"

// createSegment makes an empty segment. It fails when the file exists.
func createSegment(dir string, number, base uint64, now time.Time) (*segment, error) {
	path := filepath.Join(dir, fmt.Sprintf(segmentName, number, base))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create spool segment: %w", err)
	}
	return &segment{number: number, base: base, path: path, created: now, file: f, last: base - 1}, nil
}

// listSegments returns the directory's segments, oldest first, as their names
// tell; what is in them is not looked at.
func listSegments(dir string) ([]*segment, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list spool directory: %w", err)
	}
	var list []*segment
	for _, entry := range entries {
		var number, base uint64
		n, err := fmt.Sscanf(entry.Name(), segmentName, &number, &base)
		if err != nil || n != 2 || base == 0 || entry.Name() != fmt.Sprintf(segmentName, number, base) {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return nil, fmt.Errorf("look at spool segment: %w", err)
		}
		list = append(list, &segment{
			number: number, base: base, path: filepath.Join(dir, entry.Name()),
			created: info.ModTime(), size: info.Size(), last: base - 1,
		})
	}
	slices.SortFunc(list, func(a, b *segment) int {
		if a.number < b.number {
			return -1
		}
		return 1
	})
	return list, nil
}

// seal puts the file of a segment on the disk for good and closes it.
func seal(f *os.File) error {
	err := f.Sync()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("seal spool segment: %w", err)
	}
	return nil
}
