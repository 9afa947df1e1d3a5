internal import PushModel

/// How pages look: light and dark as the reader's system wishes, on paper light.
///
/// The colours of outcomes are based on Okabe and Ito's, which differ for colour-blind readers too:
/// darker where theirs are too pale for white paper, lighter where the page is dark.
enum StyleSheet {
  static let text = colors + layout + charts + narrow + paper

  // Every mark is at least 3 : 1 against the panel, every text 4.5 : 1, which
  // `scripts/check-report` computes; the fields of heat maps begin near the panel.
  private static let light = """
    color-scheme:light;--page:#f6f7f9;--panel:#ffffff;--ink:#1a1f26;--soft:#59636e;--line:#d5dbe1;
    --grid:#e6eaee;--hit:#1a1f2614;--messages:#2f3842;--a:#6b7683;--b:#4b3fb0;--b-part:#857bd6;--mark:#ecebf9;
    --more:#2f7d32;--more-part:#4f9a52;
    --family-0:#0072b2;--family-1:#9a6fe0;--family-2:#a68a00;--family-3:#d55e00;
    --family-4:#8a5a2b;--family-5:#b0598f;--family-6:#009268;--family-7:#20767f;--family-8:#948a7c;
    --heat-0:#e4eef7;--heat-1:#c9ddee;--heat-2:#a6c6e1;--heat-3:#7dabd1;
    --heat-4:#5189bb;--heat-5:#2f6aa1;--heat-6:#174c83;--heat-7:#082b57;
    """

  private static let dark = """
    color-scheme:dark;--page:#0e1216;--panel:#161b21;--ink:#e4e8ec;--soft:#9aa5b1;--line:#303841;
    --grid:#262d35;--hit:#e4e8ec1c;--messages:#c3cad1;--a:#8e99a5;--b:#a79ff5;--b-part:#7268cc;--mark:#23213f;
    --more:#6cc070;--more-part:#43894a;
    --family-0:#3f9fd9;--family-1:#c4a8f7;--family-2:#b8a02e;--family-3:#ee7a2e;
    --family-4:#b98a5e;--family-5:#d993bd;--family-6:#2fb892;--family-7:#45a5ae;--family-8:#9d9384;
    --heat-0:#1d2b39;--heat-1:#23405a;--heat-2:#2a577d;--heat-3:#33689a;
    --heat-4:#5290c3;--heat-5:#7bb0da;--heat-6:#a9cdea;--heat-7:#dcedf9;
    """

  private static let colors = """
    :root{\(light)}
    @media screen and (prefers-color-scheme:dark){:root{\(dark)}}

    """

  private static let layout = """
    *{box-sizing:border-box}
    html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
    body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,
    "Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;overflow-wrap:anywhere}
    header,main,footer{max-width:1168px;margin:0 auto;padding:0 24px}
    header{padding-top:24px}
    h1{font-size:28px;line-height:1.2;margin:0 0 6px}
    h2{font-size:20px;line-height:1.3;margin:0 0 10px}
    header p,.note,footer p{color:var(--soft);margin:0 0 14px}
    header p{max-width:74em}
    header p.answer{color:var(--ink);font-size:19px;line-height:1.4;max-width:50em;margin-bottom:8px}
    header p.second{color:var(--ink);max-width:64em;margin-bottom:8px}
    header p.caveat{color:var(--ink);border-left:3px solid var(--family-3);padding-left:10px}
    .contents{margin:-8px 0 0}
    .note{max-width:64em;margin-top:-6px}
    .note strong,header strong{color:var(--ink);font-weight:600}
    .note strong{white-space:nowrap}
    nav ul{display:flex;flex-wrap:wrap;gap:0 18px;list-style:none;margin:0;padding:0}
    nav a,footer a{color:var(--family-0);display:inline-block;min-height:24px;line-height:24px}
    section{margin:32px 0 0}
    header+main>section:first-child{margin-top:10px}
    section.folded{margin-top:12px}
    section.folded+section:not(.folded){margin-top:32px}
    .folded>details{margin:0;font-size:inherit}
    .folded>details>summary{color:var(--ink)}
    .folded>details[open]>summary{margin-bottom:10px}
    .folded h2{display:inline;font-size:17px}
    footer{margin-top:36px;padding-bottom:32px;font-size:13px}
    .pair{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:16px}
    figure,.panel-box{background:var(--panel);border:1px solid var(--line);border-radius:8px;
    margin:0;padding:14px 18px;min-width:0}
    figure+figure,figure+.pair,figure+.panel-box,.pair+figure,.pair+.panel-box,.panel-box+.panel-box,
    .panel-box+.pair{margin-top:16px}
    .pair>.panel-box,.pair>figure{margin-top:0}
    figcaption{font-weight:600;margin-bottom:8px}
    figure>.words{margin:-4px 0 10px}
    code{font-size:.93em}
    td code{user-select:all;-webkit-user-select:all;white-space:normal}
    td.shade-1{background:var(--heat-0)}
    td.shade-2{background:var(--heat-1)}
    td.shade-3{background:var(--heat-2)}
    td.shade-4{background:var(--heat-3)}
    tr.marked>*{background:var(--mark);font-weight:600}
    .limits{margin:0;padding-left:34px}
    .limits li+li{margin-top:6px}
    .remark{color:var(--soft);font-size:13px;margin:6px 0 0}
    ul.legend{display:flex;flex-wrap:wrap;gap:2px 16px;list-style:none;margin:0 0 8px;padding:0;
    font-size:13px;color:var(--soft)}
    .swatch{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:6px}
    details{margin-top:8px;font-size:13px}
    summary{color:var(--soft);cursor:pointer;width:fit-content;min-height:24px;line-height:24px}
    :focus-visible{outline:2px solid var(--family-0);outline-offset:2px}
    .figures{max-height:360px;overflow:auto;margin-top:8px}
    .figures thead th{position:sticky;top:0;background:var(--panel)}
    table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
    caption{text-align:left;font-weight:600;padding-bottom:6px}
    th,td{text-align:left;font-weight:400;padding:5px 8px;border-bottom:1px solid var(--grid);
    vertical-align:top}
    thead th{color:var(--soft);font-size:13px;border-bottom-color:var(--line);vertical-align:bottom}
    th:first-child,td:first-child{padding-left:0}
    th:last-child,td:last-child{padding-right:0}
    tbody tr:last-child>*{border-bottom:0}
    td,.number{text-align:right;white-space:nowrap;overflow-wrap:normal}
    td.text,td.prose{text-align:left;white-space:normal;overflow-wrap:anywhere}
    .instant{white-space:nowrap}
    td bdi{display:inline-block;min-width:4em}
    td.prose bdi{display:inline}
    .sub{display:block;color:var(--soft);font-size:13px;font-weight:400}
    .bar{display:block;height:5px;border-radius:2px;background:var(--grid);margin-top:3px;
    min-width:72px;overflow:hidden}
    .bar i{display:block;height:100%}

    """

  private static let charts: String = {
    let families = OutcomeFamily.allCases.map(\.color)
    var text = """
      svg{display:block;width:100%;height:auto}
      svg text{font-size:12px;fill:var(--soft)}
      svg .panel{font-size:13px;fill:var(--ink)}
      svg .value{font-size:12px}
      svg .name{fill:var(--soft)}
      .grid{stroke:var(--grid);stroke-width:1}
      .base{stroke:var(--soft);stroke-width:1}
      .area{stroke-width:1;stroke-linejoin:round}
      .hit{fill:transparent}
      .hit:hover{fill:var(--hit)}
      .line{fill:none;stroke-width:2;stroke-linejoin:round}
      .part{stroke:var(--panel);stroke-width:.6}
      .part:hover,.heat:hover,.point:hover{stroke:var(--ink);stroke-width:1.5}
      .point{fill:var(--family-0);fill-opacity:.35;stroke:var(--family-0);stroke-width:.8}
      .level{fill:var(--ink)}
      svg .strong{font-size:14px;font-weight:600;fill:var(--ink)}
      .cut{fill:var(--ink)}
      .heat-empty{fill:none;stroke:var(--grid)}
      .heat-zero{fill:var(--panel);stroke:var(--line)}
      svg.narrow{display:none}

      """
    for name in ["messages", "a", "b", "b-part", "more", "more-part"] + families {
      text += ".\(name){fill:var(--\(name));background:var(--\(name))}"
      text += ".area.\(name){fill-opacity:.35;stroke:var(--\(name))}"
      text += ".line.\(name){fill:none;stroke:var(--\(name))}\n"
    }
    for color in 0..<QuantileScale.colorCount {
      text += ".heat-\(color){fill:var(--heat-\(color))}\n"
    }
    return text
  }()

  /// Tables of charts beside each other are small where there is little room for them. Below the
  /// second width charts are drawn for a telephone, and rows of tables become cards.
  private static let narrow = """
    @media screen and (max-width:1100px){
    .pair .figures,.pair .figures thead th{font-size:11.5px}
    .pair .figures th,.pair .figures td{padding:4px 3px}
    }
    @media screen and (max-width:969px){
    header,main,footer{padding-left:8px;padding-right:8px}
    header{padding-top:18px}
    h1{font-size:23px}
    h2{font-size:18px}
    header p.answer{font-size:17px}
    .note strong{white-space:normal}
    header>*,h2,.note,footer,.folded summary{padding-left:6px;padding-right:6px}
    figure,.panel-box{padding:12px 6px}
    figcaption,ul.legend,figure>.words,.remark,figure details,.panel-box>*{margin-left:6px;margin-right:6px}
    .panel-box table{width:calc(100% - 12px)}
    .pair{grid-template-columns:minmax(0,1fr)}
    svg.wide{display:none}
    svg.narrow{display:block;max-width:620px;margin:0 auto}
    .figures,.figures thead th{font-size:11.5px}
    .figures th,.figures td{padding:4px 3px}
    .figures tbody th{white-space:nowrap}
    .figures.wide{font-size:11px}
    .figures.wide th,.figures.wide td{padding:4px 2px}
    table.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
    table.cards tr{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:4px 12px;
    padding:8px 0;border-bottom:1px solid var(--grid)}
    table.cards tr:last-child{border-bottom:0}
    table.cards td:not(.prose){font-size:13px}
    table.cards th,table.cards td{border:0;padding:0;text-align:left;white-space:normal}
    table.cards .instant{white-space:normal}
    table.cards th{grid-column:1/-1;font-weight:600}
    table.cards td::before{content:attr(data-name);display:block;color:var(--soft);font-size:12px}
    table.cards td.prose{grid-column:1/-1}
    }
    @media screen and (max-width:379px){
    svg.narrow text{font-size:12.5px}
    table.cards tr{grid-template-columns:repeat(2,minmax(0,1fr))}
    }

    """

  /// What is open on the screen, in pairs as there; figures and folded sections only if they were
  /// asked for.
  private static let paper = """
    @media print{
    body{background:none;font-size:9.5pt}
    header,main,footer{max-width:none;padding:0}
    h1{font-size:17pt}
    h2{font-size:13pt;margin-bottom:6px}
    header p.answer{font-size:12pt}
    section{margin-top:18px}
    figure,.panel-box{padding:8px 10px}
    figure+figure,figure+.pair,figure+.panel-box,.pair+figure,.pair+.panel-box,
    .panel-box+.panel-box,.panel-box+.pair{margin-top:10px}
    .pair>.panel-box{margin-top:0}
    footer{margin-top:14px;padding-bottom:0;font-size:8pt;break-before:avoid}
    nav,summary,.contents{display:none}
    .folded summary{display:list-item;list-style:none}
    section,figure,svg,tr,caption,figcaption,ul.legend{break-inside:avoid}
    section:has(table.cards){break-inside:auto}
    h2,.note,figcaption,ul.legend,caption,thead{break-after:avoid}
    svg text,svg .value{font-size:15px}
    svg .panel,svg .strong{font-size:16px}
    .pair{gap:10px}
    .pair svg.wide{display:none}
    .pair svg.narrow{display:block}
    .pair svg text{font-size:12px}
    th,td{padding:3px 6px}
    .figures{max-height:none;overflow:visible;font-size:7.5pt}
    .figures thead th{position:static;font-size:7.5pt}
    .figures th,.figures td{padding:1px 4px}
    .figures-on-paper details::details-content{content-visibility:visible;display:block}
    .figures-on-paper .figures{columns:2;column-gap:24px}
    .figures-on-paper .figures.wide{columns:1}
    .figures-on-paper .figures+.figures{margin-top:12px}
    .figures-on-paper figure,.figures-on-paper section{break-inside:auto}
    .figures-on-paper .pair{display:block}
    .figures-on-paper .pair>*+*{margin-top:10px}
    .figures tbody th:not(:has(bdi)){white-space:nowrap}
    body:not(.figures-on-paper) .folded{display:none}
    body:not(.figures-on-paper) tbody tr:nth-child(n+11){display:none}
    *{print-color-adjust:exact;-webkit-print-color-adjust:exact}
    }
    """
}
