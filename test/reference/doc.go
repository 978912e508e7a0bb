// Package reference owns the reference pages under docs/reference that are
// made from the code, and reads the ones that are written by hand for their
// tests. It must not know how anything that it describes works: it reads
// types, comments, registries and answers.
package reference
