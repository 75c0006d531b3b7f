package fyllo

import (
	"encoding/json"
	"fmt"
)

// StringValue returns a ConfigValue for a select option.
func StringValue(s string) ConfigValue { return ConfigValue{Text: s} }

// BoolValue returns a ConfigValue for a boolean option.
func BoolValue(b bool) ConfigValue { return ConfigValue{Bool: b, IsBool: true} }

// String returns the value as a command line shows it.
func (v ConfigValue) String() string {
	if v.IsBool {
		return fmt.Sprint(v.Bool)
	}
	return v.Text
}

// MarshalJSON writes a JSON string or boolean.
func (v ConfigValue) MarshalJSON() ([]byte, error) {
	if v.IsBool {
		return json.Marshal(v.Bool)
	}
	return json.Marshal(v.Text)
}

// UnmarshalJSON reads a JSON string or boolean; null leaves the zero value.
func (v *ConfigValue) UnmarshalJSON(b []byte) error {
	var any any
	if err := json.Unmarshal(b, &any); err != nil {
		return err
	}
	switch x := any.(type) {
	case nil:
		*v = ConfigValue{}
	case bool:
		*v = BoolValue(x)
	case string:
		*v = StringValue(x)
	default:
		return fmt.Errorf("config value is neither string nor boolean")
	}
	return nil
}

// Offers reports whether the select option has the value among its choices.
func (o ConfigOption) Offers(value string) bool {
	for _, g := range o.Choices {
		for _, c := range g.Choices {
			if c.Value == value {
				return true
			}
		}
	}
	return false
}

// CurrentOf returns the current value of the first select option of a category, "" if there is none
// (R-CHAT-033, R-CHAT-160).
func CurrentOf(options []ConfigOption, category string) string {
	for _, o := range options {
		if o.Category == category && o.Type == "select" {
			return o.Current.Text
		}
	}
	return ""
}
