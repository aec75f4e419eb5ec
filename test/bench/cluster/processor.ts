import { readdirSync, readFileSync } from 'node:fs'

/** The processor time of processes, as Linux reports it. */

/** The processor time of a process and its ended children, in milliseconds. */
export function processorMs(pid: number): number {
  const fields = statOf(pid)
  // The fields after the name: state, parent … User and system time are fields 14 and 15, those of ended children 16 and 17.
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0)
  return ticks * msPerTick
}

/** The processor time of the running threads of a process, in nanoseconds. */
export function processorNs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce((sum, thread) => {
    const [ns] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
    return sum + Number(ns)
  }, 0)
}

/** The processor time of a process and all its descendants, in milliseconds. */
export function processorMsOfTree(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((one) => parentOf(one) === pid)
  return [pid, ...children].reduce((sum, one) => sum + processorMs(one), 0)
}

/** The processor time of the ended children of this process, in milliseconds. */
export function processorMsOfEnded(): number {
  const fields = statOf(process.pid)
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * msPerTick
}

/** The id of the parent of a process. */
export function parentOf(pid: number): number {
  return Number(statOf(pid)[1] ?? 0)
}

/** The fields after the name of the program, which may contain any character; empty for an ended process. */
function statOf(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

/** Linux reports processor time to programs in hundredths of a second. */
const msPerTick = 10
