import { useSignal } from '@preact/signals'
import { chainTexts } from '../texts-chains.ts'
import { Section } from './facts.tsx'
import { bytesOf, type MetadataEntry, metadataRows } from './metadata.tsx'

/**
 * The media of an NFT. What is in the metadata itself is shown after a click. What is elsewhere opens in a tab of its own, for this
 * page asks no other host for anything.
 */

const words = chainTexts.nft

export function Media({ of: entries }: { readonly of: readonly MetadataEntry[] }) {
  const isShown = useSignal(false)
  const address = mediaIn(entries)
  if (address === undefined) return null
  if (!address.startsWith('data:')) return <Elsewhere address={address} />
  return (
    <Section title={words.media}>
      {isShown.value ? (
        <img class="media" src={address} alt={words.picture} />
      ) : (
        <button
          type="button"
          class="button"
          onClick={() => {
            isShown.value = true
          }}
        >
          {words.show}
        </button>
      )}
    </Section>
  )
}

function Elsewhere({ address }: { readonly address: string }) {
  return (
    <Section title={words.media}>
      <a class="button" href={address} target="_blank" rel="noopener noreferrer">
        {words.open(new URL(address).host)}
      </a>{' '}
      <span class="muted">{words.elsewhere}</span>
    </Section>
  )
}

/** The address of a picture or of other media: one that a member names, or the bytes of a picture. */
export function mediaIn(entries: readonly MetadataEntry[]): string | undefined {
  for (const { value, isText } of metadataRows(entries)) {
    const found = isText ? addressIn(value) : pictureIn(value)
    if (found !== undefined) return found
  }
  return undefined
}

function addressIn(text: string): string | undefined {
  if (/^data:image\//.test(text)) return text
  return /^https?:\/\/\S+$/.test(text) && URL.canParse(text) ? text : undefined
}

/** The first bytes of the forms of pictures that browsers show. */
const beginnings = { '89504e47': 'png', ffd8ff: 'jpeg', '47494638': 'gif', '52494646': 'webp' }

function pictureIn(hex: string): string | undefined {
  const form = Object.entries(beginnings).find(([bytes]) => hex.startsWith(`0x${bytes}`))?.[1]
  if (form === undefined) return undefined
  return `data:image/${form};base64,${btoa(String.fromCharCode(...bytesOf(hex)))}`
}
