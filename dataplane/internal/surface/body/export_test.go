package body

// Used is how many bytes the bodies on disk take.
func (s *Spool) Used() int64 { return s.used.Load() }

// Failing makes every write to a file end in err.
func (s *Spool) Failing(err error) {
	open := s.create
	s.create = func() (file, error) {
		f, failed := open()
		return &failing{f, err}, failed
	}
}

type failing struct {
	file
	err error
}

func (f *failing) Write([]byte) (int, error) { return 0, f.err }
