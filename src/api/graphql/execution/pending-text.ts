/** Text of which some parts are written asynchronously. A list of pages has many of them, so each costs one promise. */
export interface PendingText {
  /** The text before each part. */
  readonly texts: string[]
  readonly parts: Promise<string>[]
}

/** Creates a text without parts. */
export function emptyPendingText(): PendingText {
  return { texts: [], parts: [] }
}

/** Resolves to the whole text. `end` is the text after the last part. Rejects when a part does. */
export function completeText({ texts, parts }: PendingText, end: string): Promise<string> {
  const [part] = parts
  if (part !== undefined && parts.length === 1) return part.then((text) => texts[0] + text + end)
  return Promise.all(parts).then((all) => {
    let whole = ''
    for (let i = 0; i < all.length; i++) whole += `${texts[i]}${all[i]}`
    return whole + end
  })
}

/** Ignores rejections of the parts: the whole response fails, and only its first failure is reported. */
export function abandon(pending: PendingText | undefined): void {
  for (const part of pending?.parts ?? []) part.catch(() => {})
}
