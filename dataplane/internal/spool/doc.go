// Package spool owns a gateway's usage records between the moment a request
// starts and the moment they are in Postgres: a directory of append-only
// segment files, the gateway's identity, its sequence numbers, and the loop
// that ships records to the usage stream. It knows nothing of requests beyond
// the event it is handed, and nothing of what the control plane does with it.
//
// What it promises:
//
//   - Intent and Complete return after write(2). The kernel has the bytes then,
//     so that kill -9 of the gateway loses nothing; the files are synced when a
//     segment is closed, so that a power failure can lose the newest records.
//   - An intent without a completion becomes an event with outcome unknown and
//     the intent's estimate when the directory is opened again.
//   - Events carry a sequence that rises from 1 without gaps for the life of the
//     directory. Sequences that damage has destroyed are reported to the usage
//     consumer as lost, so that the gap is on record and does not hold up what
//     follows.
//   - A segment is deleted only when the consumer's committed mark has passed
//     all of it, and the follower, which counts what keys use, has counted it.
//     For the follower alone the spool fills to half of its bound at most. When the stream has lost records, they are published again.
//   - Nothing is dropped to make room. Over Options.MaxBytes, or while the disk
//     refuses writes, Intent fails with fault.Unavailable, so that no upstream
//     call starts that could not be accounted for. Completions of requests that
//     had started are always taken: over the bound they are still written (each
//     open intent has room reserved), and what the disk refuses is held in
//     memory, which open intents bound, and written when the disk lets it. Only
//     an event of a request that the gateway itself refused may be turned away
//     then; Complete says so and it is counted.
package spool
