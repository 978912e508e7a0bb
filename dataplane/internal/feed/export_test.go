package feed

// Deafen ends the subscriptions, as a route that lost its interest would.
func (f *Feed) Deafen() { f.unsubscribe() }
