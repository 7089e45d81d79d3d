// Lets a picture be zoomed, rotated and moved, by buttons and by keys.
const pieceworkViews = JSON.parse(document.getElementById("page-data").textContent).texts;
document.querySelectorAll("[data-viewer]").forEach((viewer) => {
  const steps = [1, 1.5, 2, 3, 4, 6];
  const frame = viewer.querySelector(".frame");
  const stage = viewer.querySelector(".stage");
  const image = viewer.querySelector("img");
  const lost = viewer.querySelector(".lost");
  const address = image.getAttribute("src");
  let zoom = 0;
  let turns = 0;

  // The stage is as large as the turned picture, so that all of it can be scrolled to.
  const lay = () => {
    const isOnSide = turns % 2 === 1;
    const [width, height] = [image.naturalWidth || 1, image.naturalHeight || 1];
    const [across, down] = isOnSide ? [height, width] : [width, height];
    frame.style.setProperty("--tall", down / across);
    const fit = Math.min(frame.clientWidth / across, frame.clientHeight / down);
    const scale = fit * steps[zoom];
    stage.style.width = `${Math.floor(across * scale)}px`;
    stage.style.height = `${Math.floor(down * scale)}px`;
    image.style.width = `${width * scale}px`;
    image.style.height = `${height * scale}px`;
    image.style.transform = `translate(-50%, -50%) rotate(${turns * 90}deg)`;
  };
  const tell = () => {
    const size = zoom === 0 ? pieceworkViews.whole_picture
      : pieceworkViews.zoomed.replace("{percent}", steps[zoom] * 100);
    const turned = turns % 4 === 0 ? ""
      : pieceworkViews.turned.replace("{degrees}", (turns % 4) * 90);
    const state = viewer.querySelector("[data-view-state]");
    state.textContent = size + turned;
    state.classList.toggle("whole", zoom === 0 && turns % 4 === 0);
    viewer.querySelector("[data-view=out]").disabled = zoom === 0;
    viewer.querySelector("[data-view=in]").disabled = zoom === steps.length - 1;
  };
  const zoomTo = (wanted) => {
    const middle = [
      (frame.scrollLeft + frame.clientWidth / 2) / frame.scrollWidth,
      (frame.scrollTop + frame.clientHeight / 2) / frame.scrollHeight,
    ];
    zoom = Math.min(Math.max(wanted, 0), steps.length - 1);
    lay();
    frame.scrollLeft = middle[0] * frame.scrollWidth - frame.clientWidth / 2;
    frame.scrollTop = middle[1] * frame.scrollHeight - frame.clientHeight / 2;
  };
  const acts = {
    in: () => zoomTo(zoom + 1),
    out: () => zoomTo(zoom - 1),
    turn: () => { turns += 1; lay(); },
    reset: () => { turns = 0; zoomTo(0); },
    retry: () => {
      lost.hidden = true;
      image.removeAttribute("src");
      image.src = address;
    },
  };
  const keys = { "+": "in", "=": "in", "-": "out", r: "turn", R: "turn", 0: "reset" };
  const act = (name) => {
    acts[name]();
    tell();
  };

  viewer.addEventListener("click", (event) => {
    const button = event.target.closest("[data-view]");
    if (button) act(button.dataset.view);
  });
  frame.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act(keys[event.key]);
  });
  const loaded = () => {
    lost.hidden = true;
    frame.hidden = false;
    lay();
  };
  const failed = () => {
    lost.hidden = false;
    frame.hidden = true;
  };
  image.addEventListener("load", loaded);
  image.addEventListener("error", failed);
  if (pieceworkLost.has(image)) failed();
  // A picture of a later item has no size until it is shown.
  new ResizeObserver(lay).observe(frame);
  tell();
});
