# What PTX and the messages of `ptxas -v` say of each instance of a kernel; kernel_budgets calls it with both files. A
# line for each: mangled name, registers, spilled bytes, widest load, widest store, narrow loads and narrow stores of its
# packed loops, divisions, threads that a multiprocessor holds, bytes of loads that a thread has in flight, and the share
# of the bandwidth that these allow, in percent, on the GPU of `architecture`: A100 for 80, H200 for 90, B200 for 100.
#
# A loop is packed if a turn of it (without the loops in it) moves 16 bytes at once. Its narrow loads and stores move
# less: a tensor that is read or written element by element beside others that are packed. Remainders have loops of
# their own, which are not packed.
#
# A share of 100 takes as many bytes in flight as NVIDIA's CUB asks for to fill the bandwidth: 16 KiB a multiprocessor
# on A100, 48 KiB on H200, 64 KiB on B200 (arch_to_min_bytes_in_flight in
# cub/device/dispatch/tuning/tuning_transform.cuh, since CUDA 13.1 with B200).
# By Little's law these are latencies under load: 48 KiB * 132 / 4.8 TB/s = 1.35 us, 16 KiB * 108 / 2.04 TB/s = 0.87 us,
# 64 KiB * 148 / 8 TB/s = 1.21 us. With little to do memory answers sooner (in 0.6 to 0.8 us, which takes 22 to 29 KB
# on H200), so a share below 100 is what is safe, not what is possible. Otherwise the model is a bound from above, which
# no GPU has confirmed. It does not know
#   - caches: a load of a parameter that many threads share counts like one of an element;
#   - grids too small to fill the GPU, and divisions or other work that takes longer than memory;
#   - passes: of several loops over the same memory the one with the most bytes in flight counts, which may be one that
#     caches answer;
#   - what ptxas does to save registers (loads that it delays) or time (loops that it unrolls once more).

# Threads of all blocks that a multiprocessor holds at once. On all three GPUs these are at most 2048, with 4 x 16384
# registers, which warps get in units of 256. A block takes 1 KiB of shared memory beside its own, by 128 bytes.
function resident(name,   threads, warps, blocks) {
  threads = name in block ? block[name] : default_block
  warps = 4 * int(16384 / (32 * 8 * int((registers[name] + 7) / 8)))
  blocks = int(warps * 32 / threads)
  blocks = less(blocks, int(2048 / threads))
  return threads * less(blocks, int(shared_limit / (1024 + 128 * int((shared[name] + 127) / 128))))
}

function less(a, b) { return a < b ? a : b }
function more(a, b) { return a > b + 0 ? a : b }

function percent(bytes, needed) { return bytes >= needed ? 100 : int(100 * bytes / needed) }

function bytes_of(instruction,   parts, n, i, width, count) {
  n = split(instruction, parts, ".")
  count = 1; width = 0
  for (i = 1; i <= n; ++i) {
    if (parts[i] ~ /^v[248]$/) count = substr(parts[i], 2)
    if (parts[i] ~ /^[busf](8|16|32|64|128)$/) width = substr(parts[i], 2) / 8
  }
  return count * width
}

function registers_of(text,   found) {
  while (match(text, /%[a-z]+[0-9]+/)) {
    found = found " " substr(text, RSTART, RLENGTH)
    text = substr(text, RSTART + RLENGTH)
  }
  return found
}

# Loads in flight. Between branches ptxas moves loads ahead of all uses, but not across a store or a barrier. So at each
# of these the thread waits for the loads that were used, and the others stay in flight: `pending` is register -> bytes.
# A load whose address is computed from another load waits for it: `wave` is its place in such a row.
function wait_for_used(   r) {
  for (r in used) delete pending[r]
  split("", used); split("", wave); split("", wave_bytes)
  for (r in pending) { wave[r] = 1; wave_bytes[1] += pending[r] }
}

function execute(i,   regs, n, k, w, bytes, moved) {
  n = split(sources[i], regs, " ")
  for (k = 1; k <= n; ++k) {
    if (wave[regs[k]] > w) w = wave[regs[k]]
    if (!(regs[k] in pending)) continue
    used[regs[k]] = 1
    if (opcode[i] ~ /^mov/) moved = pending[regs[k]]
  }
  if (opcode[i] ~ /^ld[.]global/) {
    moved = bytes = bytes_of(opcode[i])
    wave_bytes[++w] += bytes
    most = more(wave_bytes[w], most)
    if (is_in_loop) most_in_loops = more(wave_bytes[w], most_in_loops)
  }
  n = split(results[i], regs, " ")
  for (k = 1; k <= n; ++k) {
    delete used[regs[k]]; delete pending[regs[k]]
    wave[regs[k]] = w
    if (moved) pending[regs[k]] = moved / n
  }
  if (opcode[i] ~ /^(st[.]global|atom|red|bar|membar|fence|call)/) wait_for_used()
}

# Of the blocks that lead to `to`, the one with the most bytes in flight counts.
function hand_on(to,   r, bytes, list) {
  if (to == "" || to in loop_begins) return
  for (r in pending) { bytes += pending[r]; list = list " " r " " pending[r] }
  if (bytes > carried_bytes[to]) { carried_bytes[to] = bytes; carried[to] = list }
}

# inside[head, block]: the blocks of each loop, by the one that it begins with.
function find_loops(   head, b, n, i, k, from) {
  split("", inside); split("", size)
  for (head in loop_begins) {
    size[head] = 1; inside[head, head] = 1
    n = split(closes[head], path, " ")
    while (n > 0) {
      b = path[n--]
      if ((head, b) in inside) continue
      inside[head, b] = 1; ++size[head]
      k = split(before[b], from, " ")
      for (i = 1; i <= k; ++i) path[++n] = from[i]
    }
  }
  split("", innermost)
  for (b in state) {
    for (head in loop_begins) {
      if ((head, b) in inside && (!(b in innermost) || size[head] < size[innermost[b]])) innermost[b] = head
    }
    if (!(b in innermost)) innermost[b] = "kernel"
  }
}

# Loads and stores below 16 bytes in packed loops. A block belongs to the smallest loop that has it, or to the kernel.
function count_narrow(   b, packed) {
  for (b in moves_packs) if (b in state) packed[innermost[b]] = 1
  for (b in state) {
    if (!(innermost[b] in packed)) continue
    narrow_load[name] += narrow_loads[b]; narrow_store[name] += narrow_stores[b]
  }
}

function successor(b, which) {
  if (which == 1) return b in branch ? at_label[branch[b]] : ""
  return b in falls_through && b < blocks ? b + 1 : ""
}

# The most bytes on any path in a loop, or where no loop loads, on any path. Blocks come in an order in which only those
# that close a loop lead back; a turn of a loop begins with nothing in flight, for what was loaded before it is answered
# in its first turn.
function in_flight(   depth, step, order, n, b, to, i, k, parts, count) {
  split("", loop_begins); split("", closes); split("", before); split("", state)
  split("", carried); split("", carried_bytes)
  first[blocks + 1] = instructions
  most = most_in_loops = 0
  path[depth = 1] = 0; state[0] = "open"
  while (depth > 0) {
    b = path[depth]
    if (++step[b] > 2) { state[b] = "done"; order[++n] = b; --depth; continue }
    to = successor(b, step[b])
    if (to == "") continue
    before[to] = before[to] " " b
    if (state[to] == "open") { loop_begins[to] = 1; closes[to] = closes[to] " " b }
    if (state[to] == "") { state[to] = "open"; path[++depth] = to }
  }
  find_loops()
  for (i = n; i > 0; --i) {
    b = order[i]
    is_in_loop = innermost[b] != "kernel"
    split("", pending)
    count = split(carried[b], parts, " ")
    for (k = 1; k < count; k += 2) pending[parts[k]] = parts[k + 1]
    wait_for_used()
    for (k = first[b]; k < first[b + 1]; ++k) execute(k)
    wait_for_used()
    hand_on(successor(b, 1))
    hand_on(successor(b, 2))
  }
  return most_in_loops > 0 ? most_in_loops : most
}

function begin_block() { first[++blocks] = instructions; falls_through[blocks] = 1 }

function begin_entry() {
  match($0, /[.]entry [A-Za-z0-9_$]+/)
  name = substr($0, RSTART + 7, RLENGTH - 7)
  names[name] = 1
  split("", falls_through); split("", branch); split("", at_label)
  split("", moves_packs); split("", narrow_loads); split("", narrow_stores)
  instructions = 0; blocks = -1
  begin_block()
}

# `@%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];`: guard, opcode, results, sources.
function read_instruction(line,   guard, op, end, bytes) {
  sub(/^[ \t{]*/, "", line)
  if (match(line, /^@[^ \t]+[ \t]+/)) { guard = substr(line, 1, RLENGTH); line = substr(line, RLENGTH + 1) }
  if (line !~ /^[a-z]/) return
  op = line; sub(/[ \t;].*$/, "", op)
  line = substr(line, length(op) + 1); sub(/^[ \t]*/, "", line)
  end = op ~ /^(st|bra|bar|red|ret|membar|fence|call)/ ? 0 : index(line, line ~ /^[{]/ ? "}" : ",")
  opcode[instructions] = op
  results[instructions] = registers_of(substr(line, 1, end))
  sources[instructions++] = registers_of(guard substr(line, end + 1))
  if (op ~ /^(ld|st)[.]global/) {
    bytes = bytes_of(op)
    if (bytes >= 16) moves_packs[blocks] = 1
    if (op ~ /^ld/) { load[name] = more(bytes, load[name]); if (bytes < 16) ++narrow_loads[blocks] }
    if (op ~ /^st/) { store[name] = more(bytes, store[name]); if (bytes < 16) ++narrow_stores[blocks] }
  }
  if (op ~ /^(div|rem)[.][su](32|64)$/) ++divisions[name]
  if (op !~ /^(bra|ret)/) return
  if (op ~ /^bra/) { sub(/;.*/, "", line); branch[blocks] = line }
  if (guard == "") delete falls_through[blocks]
  begin_block()
}

BEGIN {
  shared_limit = (architecture == 80 ? 164 : 228) * 1024
  needed = (architecture == 80 ? 16 : architecture == 90 ? 48 : 64) * 1024
}

FILENAME ~ /[.]log$/ {
  if (match($0, /entry function .[A-Za-z0-9_$]+/)) entry = substr($0, RSTART + 16, RLENGTH - 16)
  if (match($0, /[0-9]+ bytes spill stores/)) spilled[entry] = substr($0, RSTART) + 0
  if (match($0, /Used [0-9]+ registers/)) registers[entry] = substr($0, RSTART + 5) + 0
  if (match($0, /[0-9]+ bytes smem/)) shared[entry] = substr($0, RSTART) + 0
  next
}
/[.]entry/ { begin_entry() }
/^[.]maxntid/ { block[name] = $2 * (NF > 2 ? $3 : 1) * (NF > 3 ? $4 : 1) }  # `256, 1, 1`, or `256` for sm_100
/^[$]L.*:/ { begin_block(); sub(/:.*/, "", $1); at_label[$1] = blocks; next }
/^}/ { flight[name] = in_flight(); count_narrow() }
/^[ \t]/ { read_instruction($0) }

END {
  for (name in names) {
    threads = resident(name)
    print name, registers[name] + 0, spilled[name] + 0, load[name] + 0, store[name] + 0, narrow_load[name] + 0,
          narrow_store[name] + 0, divisions[name] + 0, threads, flight[name], percent(threads * flight[name], needed)
  }
}
