import { readdirSync, readFileSync } from 'node:fs'

/** What processes have spent of the processors, as Linux counts it. */

/** Milliseconds of processor time of a process so far, with that of its ended children. */
export function processorMs(pid: number): number {
  const fields = statOf(pid)
  // After the name: state, parent … user and system time as fields 14 and 15, those of children as 16 and 17.
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0)
  return ticks * msPerTick
}

/** Nanoseconds of processor time of the threads of a process, without those that have ended. */
export function processorNs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce((sum, thread) => {
    const [ns] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
    return sum + Number(ns)
  }, 0)
}

/** The same of a process and of all that it has started. */
export function processorMsOfTree(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((one) => parentOf(one) === pid)
  return [pid, ...children].reduce((sum, one) => sum + processorMs(one), 0)
}

/** Milliseconds of processor time of all children of this process that have ended. */
export function processorMsOfEnded(): number {
  const fields = statOf(process.pid)
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * msPerTick
}

/** The process that started a process. */
export function parentOf(pid: number): number {
  return Number(statOf(pid)[1] ?? 0)
}

/** The fields behind the name of the program, which may hold anything; none of a process that has ended. */
function statOf(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

/** Linux has told time in hundredths of a second to all programs since long ago. */
const msPerTick = 10
