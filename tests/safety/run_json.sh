# For tests that change what gpubench stored: sourced by their scripts.

# in_run_json FIELD JSON FILE...: the field of each run.json has another value. It must not be the last one.
in_run_json() {
  local file field=$1 json=$2
  for file in "${@:3}"; do
    JSON=$json awk -v field="$field" '
      /^  "/ { found = index($0, "  \"" field "\":") == 1; if (found) print "  \"" field "\": " ENVIRON["JSON"] "," }
      /^}/ { found = 0 }
      !found' "$file" >"$file.new"
    ! cmp -s "$file" "$file.new" || { echo "$file has no $field" >&2 && exit 1; }
    mv "$file.new" "$file"
  done
}
