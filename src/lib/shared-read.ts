/**
 * Shares a read among concurrent callers. A call that arrives during a read waits for the next read, because the current one may have
 * begun before a change.
 */
export function sharedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined
  let next: Promise<T> | undefined

  function begin(): Promise<T> {
    next = undefined
    const reading = read().finally(() => {
      if (current === reading) current = undefined
    })
    current = reading
    return reading
  }

  return () => {
    if (current === undefined) return begin()
    next ??= current.then(begin, begin)
    return next
  }
}
