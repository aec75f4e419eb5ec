import { useRef } from 'preact/hooks'
import type { Failure } from '../../graphql.ts'
import type { PageName } from '../../paths.ts'
import { linkTo, navigate, type Place } from '../../router.ts'
import { toolTexts } from '../../texts-tools.ts'
import { FailureNote } from './failure-note.tsx'
import { readPasted } from './pasted.ts'

/** A text field for a value. The value is stored in the URL after `#`, which browsers do not send to servers. */

const words = toolTexts.paste

interface PasteHeadProps {
  readonly words: {
    readonly intro: string
    /** Label of the button. */
    readonly act: string
  }
  readonly place: Place
  /** Why the gateway returned no result. */
  readonly failure: Failure | undefined
}

/** The head of a tool that takes a value, below its heading: its description, the text field, and the error if there is no result. */
export function PasteHead({ words: { intro, act }, place, failure }: PasteHeadProps) {
  return (
    <>
      <p class="intro">{intro}</p>
      <Paste place={place} act={act} />
      {failure !== undefined && (
        <p class="failure" role="alert">
          {failure.message}
        </p>
      )}
    </>
  )
}

function Paste({ place, act }: { readonly place: Place; readonly act: string }) {
  const area = useRef<HTMLTextAreaElement>(null)
  const pasted = readPasted(place.fragment)
  const submit = () => navigate(linkToValue(place.name, area.current?.value.trim() ?? ''))
  return (
    <form
      class="paste"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <label for="pasted">{words.label}</label>
      <textarea
        ref={area}
        id="pasted"
        rows={6}
        spellcheck={false}
        autocomplete="off"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
        }}
        defaultValue={place.fragment}
      />
      <p>
        <button type="submit" class="button">
          {act}
        </button>{' '}
        <span class="muted">{words.hint}</span>
      </p>
      {pasted.is === 'PROBLEM' && (
        <FailureNote role="alert" title={pasted.sentence}>
          <SearchFor text={place.fragment} />
        </FailureNote>
      )}
    </form>
  )
}

/** A link that searches the ledger for a text. */
export function SearchFor({ text }: { readonly text: string }) {
  return (
    <p>
      <a class="link-in-text" href={linkTo('search', {}, { q: text.trim().slice(0, 200) })}>
        {words.search}
      </a>
    </p>
  )
}

/** The URL of a tool with a value. */
export function linkToValue(tool: PageName, text: string): string {
  return `${linkTo(tool)}#${encodeURIComponent(text)}`
}
