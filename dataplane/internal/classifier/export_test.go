package classifier

// Pick is the pick that is kept.
func Pick(k *Classifier) any { return k.picked.Load() }
