package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// journal holds the newest records, those that are not written to the active
// segment yet, in a file that is mapped into memory: the kernel has them as
// soon as they are copied there, without a system call, and keeps them when the
// process is killed. It is only ever written to. What goes to the segment is
// taken from a copy, so that a page that cannot be had loses nothing.
//
// Its file is a head, which says where in which segment the records belong, and
// the records. Behind the last one are zeros: what is left there from an
// earlier use is not read.
//
//	valid    4 bytes, 0 when the rest means nothing; written last and cleared first
//	crc      4 bytes, big endian, CRC-32C of the next 24
//	segment  8 bytes, big endian: its number
//	base     8 bytes, the first sequence it may hold
//	offset   8 bytes, where in it the records begin
type journal struct {
	file *os.File
	mem  []byte
	used int // bytes of records
}

const (
	journalName = "journal"
	journalHead = 32
	journalEnd  = 4 // zeros behind the last record
	journalMark = 0x53424a31
)

// openJournal maps the journal of dir with room for size bytes of records. The
// file is written in full when it is new: a page of it that has no place on the
// disk would be missed only when it is needed.
func openJournal(dir string, size int) (*journal, error) {
	path := filepath.Join(dir, journalName)
	size += journalHead + journalEnd
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open spool journal: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() != int64(size) {
		if err = f.Truncate(0); err == nil {
			_, err = f.WriteAt(make([]byte, size), 0)
		}
	}
	j := &journal{file: f}
	if err == nil {
		j.mem, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("map spool journal: %w", err)
	}
	return j, nil
}

// fits says whether n more bytes of records find room.
func (j *journal) fits(n int) bool { return journalHead+j.used+n+journalEnd <= len(j.mem) }

// begin empties the journal for records that belong at offset of a segment. At
// whatever instruction the process is killed, the journal is the old one, which
// the segment has already, an empty one, or the new one.
func (j *journal) begin(seg *segment, base uint64, offset int64) error {
	return j.guard(func() {
		valid := (*uint32)(unsafe.Pointer(&j.mem[0])) //nolint:gosec // mappings are aligned to pages
		atomic.StoreUint32(valid, 0)
		clear(j.mem[journalHead : journalHead+journalEnd])
		binary.BigEndian.PutUint64(j.mem[8:], seg.number)
		binary.BigEndian.PutUint64(j.mem[16:], base)
		binary.BigEndian.PutUint64(j.mem[24:], uint64(offset))
		binary.BigEndian.PutUint32(j.mem[4:], crc32.Checksum(j.mem[8:journalHead], castagnoli))
		atomic.StoreUint32(valid, journalMark)
		j.used = 0
	})
}

// append adds records, for which there must be room. The end is set first: a
// record of which only a part was copied has a wrong checksum.
func (j *journal) append(p []byte) error {
	return j.guard(func() {
		at := journalHead + j.used
		clear(j.mem[at+len(p) : at+len(p)+journalEnd])
		copy(j.mem[at:], p)
		j.used += len(p)
	})
}

// guard turns the fault of a page into an error: a disk that fails or, where
// pages find their place only when they are written, is full.
func (j *journal) guard(do func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = fmt.Errorf("write spool journal: memory fault at %#x", fault.Addr())
		default:
			panic(fault)
		}
	}()
	do()
	return nil
}

// close gives the file back, as it is.
func (j *journal) close() error {
	err := syscall.Munmap(j.mem)
	j.mem = nil
	return errors.Join(err, j.file.Close())
}

// replay writes what the journal of dir holds to the segment where it belongs,
// which may have some or all of it already, and empties the journal.
func replay(dir string) error {
	path := filepath.Join(dir, journalName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read spool journal: %w", err)
	}
	if len(data) < journalHead || *(*uint32)(unsafe.Pointer(&data[0])) != journalMark || //nolint:gosec // as it was written
		crc32.Checksum(data[8:journalHead], castagnoli) != binary.BigEndian.Uint32(data[4:]) {
		return nil
	}
	records := sound(data[journalHead:])
	if len(records) > 0 {
		name := fmt.Sprintf(segmentName, binary.BigEndian.Uint64(data[8:]), binary.BigEndian.Uint64(data[16:]))
		if err := putBack(filepath.Join(dir, name), records, int64(binary.BigEndian.Uint64(data[24:]))); err != nil {
			return fmt.Errorf("write the spool journal to its segment: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("empty the spool journal: %w", err)
	}
	_, err = f.WriteAt(make([]byte, journalHead), 0)
	return errors.Join(err, f.Close())
}

// sound is the run of whole records that data begins with.
func sound(data []byte) []byte {
	end := 0
	for {
		_, n, result := readFrame(data[end:])
		if result != readOK || n == 0 {
			return data[:end]
		}
		end += n
	}
}

// putBack writes records at offset of a segment, or at its end when a power
// failure took what stood before them: they count for themselves.
func putBack(path string, records []byte, offset int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the name is made of numbers
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.WriteAt(records, min(offset, info.Size()))
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
