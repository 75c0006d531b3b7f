package configplan

import "fyllocode.dev/fyllo"

// Raw sets the raw values of a call without semantic ones, in the caller's order. Nothing about them blocks the prompt:
// what cannot be set becomes a warning (R-SPAWN-053…055). Each value is judged by the snapshot that is newest when its
// turn comes, since an earlier set may bring other options and values.
type Raw struct {
	left     []fyllo.SpawnValue
	asked    *fyllo.SpawnValue // of the last step, until its outcome is known
	warnings []fyllo.SpawnWarning
}

// NewRaw plans to set values.
func NewRaw(values []fyllo.SpawnValue) *Raw { return &Raw{left: values} }

// Warnings name what was not set; never nil.
func (r *Raw) Warnings() []fyllo.SpawnWarning {
	return append([]fyllo.SpawnWarning{}, r.warnings...)
}

// Next looks at the newest snapshot and returns the next set, or done. A step whose set has failed is reported with Failed
// before.
func (r *Raw) Next(snapshot []fyllo.ConfigOption) (step Step, done bool) {
	if v := r.asked; v != nil {
		r.asked = nil
		if option, problem := judge(snapshot, *v); problem != "" || option.Current != v.Value {
			r.warn(v.ID, "the Agent took the value and did not change the option")
		}
	}
	for len(r.left) > 0 {
		v := r.left[0]
		r.left = r.left[1:]
		option, problem := judge(snapshot, v)
		switch {
		case problem != "":
			r.warn(v.ID, problem)
		case option.Current != v.Value:
			r.asked = &v
			return Step{Option: option, Value: v.Value}, false
		}
	}
	return Step{}, true
}

// Failed says that the set of the last step was refused, with a reason for the caller. The snapshot stays what it was.
func (r *Raw) Failed(reason string) {
	if r.asked != nil {
		r.warn(r.asked.ID, "the Agent refused the value: "+reason)
		r.asked = nil
	}
}

func (r *Raw) warn(id, message string) {
	r.warnings = append(r.warnings, fyllo.SpawnWarning{OptionID: id, Message: "Option " + quoted(id) + ": " + message + "."})
}

func quoted(id string) string { return `"` + id + `"` }
